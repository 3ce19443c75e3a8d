// idioms.cu: what experienced programmers write, with a mistake and without.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

// CALL: f32(64) | 64 -> 64 | grid=1, block=64
// SAYS: shared memory 's'; out of bounds
extern "C" __global__ void inclusive_scan(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  for (int d = 1; d < 64; d *= 2) {
    __syncthreads();
    float left = !RIGHT || t >= d ? s[t - d] : 0.0f;  // BUG inclusive_scan
    __syncthreads();
    if (t >= d) s[t] += left;
  }
  y[t] = s[t];
}

// The partner may lie beyond an array whose length is no power of two.
// CALL: f32(48) | 48 -> 48 | grid=1, block=48
// SAYS: shared memory 's' (192 bytes); out of bounds; thread (16,0,0)
extern "C" __global__ void bitonic_partner(const float* x, float* y) {
  __shared__ float s[48];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  float least = s[t];
  for (int j = 32; j > 0; j /= 2) {
    int partner = t ^ j;
    if (!RIGHT || partner < 48)
      least = fminf(least, s[partner]);  // BUG bitonic_partner
  }
  y[t] = least;
}

// Rows of any length need one offset more than there are rows.
// CALL: i32(*range(33)), f32(32) | rows, 32 -> 32 | grid=1, block=64
// SAYS: argument 'offset' (int32[33]); out of bounds; element 33
extern "C" __global__ void ragged_sums(const int* offset, const float* x, float* y,
                                       int rows) {
  int i = threadIdx.x;
  if (i >= (RIGHT ? rows - 1 : rows)) return;
  float sum = 0.0f;
  for (int k = offset[i]; k < offset[i + 1]; k++) sum += x[k];  // BUG ragged_sums
  y[i] = sum;
}

// CALL: i32(*range(-4, 8), *[3] * 20) | 32 -> 8 | grid=1, block=32
// SAYS: shared memory 'bins' (32 bytes); out of bounds; element -4
extern "C" __global__ void negative_bin(const int* x, int* y) {
  __shared__ int bins[8];
  int t = threadIdx.x;
  if (t < 8) bins[t] = 0;
  __syncthreads();
  if (!RIGHT || x[t] >= 0) atomicAdd(&bins[x[t]], 1);  // BUG negative_bin
  __syncthreads();
  if (t < 8) y[t] = bins[t];
}

// CALL: f32(32) | 32 -> 32 | grid=1, block=32
// SAYS: shared memory 's'; out of bounds
extern "C" __global__ void async_shift(const float* x, float* y) {
  __shared__ float s[36];
  int t = threadIdx.x, to = RIGHT ? t + 4 : t + 5;
  __pipeline_memcpy_async(&s[to], &x[t], 4);  // BUG async_shift
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  y[t] = s[35 - t < 4 ? 4 : 35 - t];
}

// The first round reads what only the second one writes.
// CALL: f32(3, 32) | n 32 -> 32 | grid=1, block=32
// SAYS: shared memory 's'; that nothing has written
extern "C" __global__ void double_buffer(const float* x, float* y, int n) {
  __shared__ float s[2][32];
  int t = threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < n; k++) {
    s[k & 1][t] = x[k * 32 + t];
    __syncthreads();
    if (!RIGHT || k > 0) sum += s[(k + 1) & 1][31 - t];  // BUG double_buffer
    __syncthreads();
  }
  y[t] = sum;
}

// CALL: f32(40) | n -> 1 | grid=1, block=64
// SAYS: that nothing has written
extern "C" __global__ void ragged_reduce(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < n) s[t] = x[t];
  if (RIGHT && t >= n) s[t] = 0.0f;
  for (int k = 32; k > 0; k /= 2) {
    __syncthreads();
    if (t < k) s[t] += s[t + k];  // BUG ragged_reduce
  }
  if (t == 0) y[0] = s[0];
}

// CALL: f32(64), 3 | 64 -> 64 | grid=1, block=64
// SAYS: shared memory 'a'; data race; not ordered
extern "C" __global__ void ping_pong(const float* x, float* y, int n) {
  __shared__ float a[64], b[64];
  int t = threadIdx.x;
  a[t] = x[t];
  __syncthreads();
  for (int k = 0; k < n; k++) {
    b[t] = 0.5f * (a[(t + 1) & 63] + a[(t + 63) & 63]);  // BUG ping_pong
    __syncthreads();
    a[t] = b[t];
    if (RIGHT) __syncthreads();
  }
  y[t] = a[t];
}

// CALL: f32(64) | 64 -> 64 | grid=1, block=64
// SAYS: shared memory 's'; data race; not ordered
extern "C" __global__ void rotate(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  float next = s[(t + 1) & 63];  // BUG rotate
  if (RIGHT) __syncthreads();
  s[t] = next;  // BUG rotate
  __syncthreads();
  y[t] = s[t];
}

// All blocks use one piece of scratch.
// CALL: f32(64), zeros(64, "f4") | 64, 64 -> 64 | grid=2, block=32, in_out="scratch"
// SAYS: argument 'scratch'; data race; not ordered; block (1,0,0)
extern "C" __global__ void shared_scratch(const float* x, float* scratch, float* y) {
  int t = threadIdx.x, first = blockIdx.x * 32;
  float* mine = scratch + (RIGHT ? first : 0);
  mine[t] = x[first + t];  // BUG shared_scratch
  __syncthreads();
  y[first + t] = mine[31 - t];
}

// CALL: f32(64), zeros(1, "f4") | 64, 1 | grid=2, block=32, in_out="y"
// SAYS: argument 'y'; data race; not ordered
extern "C" __global__ void dot(const float* x, float* y) {
  float v = x[blockIdx.x * 32 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (threadIdx.x != 0) return;
  if (RIGHT) {
    atomicAdd(y, v);
  } else {
    *y += v;  // BUG dot
  }
}

// CALL: i32(*range(1, 9)), i32(0), i32(0) | 8, 1, 1 | grid=8, block=32, in_out=("lock",
//   "total")
// SAYS: argument 'total'; data race; not ordered
extern "C" __global__ void unfenced_lock(const int* x, int* lock, int* total) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *total += x[blockIdx.x];  // BUG unfenced_lock
  if (RIGHT) __threadfence();
  atomicExch(lock, 0);
}

// SAYS: argument 'lock'; data race; not ordered
extern "C" __global__ void plain_unlock(const int* x, int* lock, int* total) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *total += x[blockIdx.x];
  __threadfence();
  if (RIGHT) {
    atomicExch(lock, 0);
  } else {
    *lock = 0;  // BUG plain_unlock
  }
}

// A lane that the mask leaves out has not been waited for.
// CALL: f32(32) | 32 -> 32 | grid=1, block=32
// SAYS: shared memory 's'; data race; not ordered
extern "C" __global__ void partial_mask(const float* x, float* y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = x[t];
  if (RIGHT || t < 31) __syncwarp(RIGHT ? 0xffffffff : 0x7fffffff);
  y[t] = s[31 - t];  // BUG partial_mask
}

// CALL: f32(64) | 64 -> 1 | grid=1, block=64
// SAYS: 'value'; data race; not ordered
extern "C" __global__ void volatile_flag(const float* x, float* y) {
  __shared__ float value;
  __shared__ volatile int ready;
  int t = threadIdx.x;
  if (t == 0) ready = 0;
  __syncthreads();
  if (t == 0) {
    value = x[0];  // BUG volatile_flag
    if (RIGHT) __threadfence_block();
    ready = 1;
  } else if (t == 32) {
    while (ready == 0) {
    }
    if (RIGHT) __threadfence_block();
    y[0] = value;  // BUG volatile_flag
  }
}

// A block goes on while its neighbour still reads its memory.
// CALL: f32(64) | 64 -> 64 | grid=2, block=32, cluster=2
// SAYS: shared memory 's'; data race; not ordered
extern "C" __global__ void cluster_reuse(const float* x, float* y) {
  __shared__ float s[32];
  auto cluster = cg::this_cluster();
  int i = blockIdx.x * 32 + threadIdx.x;
  s[threadIdx.x] = x[i];
  cluster.sync();
  const float* other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
  y[i] = other[threadIdx.x];  // BUG cluster_reuse
  if (RIGHT) cluster.sync();
  s[threadIdx.x] = 0.0f;  // BUG cluster_reuse
  __syncthreads();
  y[i] += s[threadIdx.x ^ 1];
  if (RIGHT) cluster.sync();
}

// CALL: 10 * f32(64), 3 | 64 -> 64 | grid=1, block=64
// SAYS: divergent __syncthreads; has gone past it and ended
extern "C" __global__ void continue_early(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  for (int k = 0; k < n; k++) {
    bool idle = x[t] > k;
    if (!RIGHT && idle) continue;
    if (!idle) s[t] = x[t];
    __syncthreads();  // BUG continue_early
  }
  y[t] = x[t];  // BUG continue_early
}

// Some threads may see no change where others see one.
// CALL: f32(64) | 64 -> 64 | grid=1, block=64
// SAYS: divergent __syncthreads; has gone past it and ended
extern "C" __global__ void until_stable(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (bool changed = true; changed;) {
    float most = fmaxf(s[t], s[(t + 1) & 63]);
    changed = most != s[t];
    if (RIGHT) changed = __syncthreads_or(changed);
    __syncthreads();  // BUG until_stable
    s[t] = most;
    __syncthreads();
  }
  y[t] = s[t];  // BUG until_stable
}

// CALL: f32(64), 40 | 64 -> 64 | grid=1, block=64
// SAYS: divergent __syncthreads; has gone past it and ended
extern "C" __global__ void short_circuit(const float* x, float* y, int n) {
  int t = threadIdx.x;
  bool any = RIGHT ? __syncthreads_or(t < n && x[t] > 1.0f)
                   : t < n && __syncthreads_or(x[t] > 1.0f);  // BUG short_circuit
  y[t] = any;                                                 // BUG short_circuit
}

// CALL: f32(64) | 64 -> 64 | grid=2, block=32, cluster=2
// SAYS: divergent cluster barrier; has gone past it and ended; block (1,0,0)
extern "C" __global__ void lone_cluster_sync(const float* x, float* y) {
  auto cluster = cg::this_cluster();
  int i = blockIdx.x * 32 + threadIdx.x;
  if (RIGHT || cluster.block_rank() == 0) cluster.sync();
  y[i] = x[i];  // BUG lone_cluster_sync
}

__device__ __attribute__((noinline)) void meet(float* s, int t) {
  s[t] += 1.0f;
  __syncthreads();  // BUG called_by_few
}
// CALL: f32(64) | 64 -> 64 | grid=1, block=64
// SAYS: divergent __syncthreads; has gone past it and ended
extern "C" __global__ void called_by_few(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  if (RIGHT || t % 32 == 0) meet(s, t);
  y[t] = s[t];  // BUG called_by_few
}
