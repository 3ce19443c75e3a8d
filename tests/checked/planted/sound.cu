// sound.cu: kernels that look like the planted bugs but are right. No report is due.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// The last block sums what the others have written.
extern "C" __global__ void last_block_sum(const float* x, float* partial,
                                          unsigned* done, float* y) {
  __shared__ bool last;
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 64 + t];
  __syncthreads();
  if (t == 0) {
    float sum = 0.0f;
    for (int k = 0; k < 64; k++) sum += s[k];
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    float sum = 0.0f;
    for (int b = 0; b < gridDim.x; b++) sum += partial[b];
    *y = sum;
  }
}

// Every thread fences its own part before the barrier.
extern "C" __global__ void last_block_rows(const float* x, float* rows, unsigned* done,
                                           float* y) {
  __shared__ bool last;
  int t = threadIdx.x;
  rows[blockIdx.x * 32 + t] = 2.0f * x[blockIdx.x * 32 + t];
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(done, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  float sum = 0.0f;
  for (int b = 0; b < gridDim.x; b++) sum += rows[b * 32 + t];
  y[t] = sum;
}

// A lock around a plain counter.
extern "C" __global__ void locked(const int* x, int* lock, int* total) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *total += x[blockIdx.x];
  __threadfence();
  atomicExch(lock, 0);
}

// Many threads write the same value.
extern "C" __global__ void any_negative(const float* x, int* found, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] < 0.0f) *found = 1;
}

// Neighbouring bytes belong to different threads.
extern "C" __global__ void bytes(const unsigned char* x, unsigned char* y, int n) {
  __shared__ unsigned char s[64];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0;
  __syncwarp();
  if (i < n) y[i] = s[t] + 1;
}

// The fourth component of each vector is never set.
struct alignas(16) Point {
  float x, y, z;
};
extern "C" __global__ void padded(const float* x, float* y) {
  __shared__ Point points[32];
  int t = threadIdx.x;
  points[t].x = x[t];
  points[t].y = 2.0f;
  points[t].z = 3.0f;
  __syncthreads();
  Point other = points[31 - t];
  y[t] = other.x + other.y + other.z;
}

// Warps reduce in step, then one warp reduces what they left.
extern "C" __global__ void warps(const float* x, float* y) {
  __shared__ float s[128];
  __shared__ float sums[4];
  int t = threadIdx.x, lane = t & 31, warp = t / 32;
  s[t] = x[blockIdx.x * 128 + t];
  __syncwarp();
  for (int k = 16; k > 0; k /= 2) {
    float other = lane < k ? s[t + k] : 0.0f;
    __syncwarp();
    if (lane < k) s[t] += other;
    __syncwarp();
  }
  if (lane == 0) sums[warp] = s[t];
  __syncthreads();
  if (t == 0) y[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}

// A warp fills the buffer while another reads the one before.
extern "C" __global__ void producer_consumer(const float* x, float* y, int n) {
  __shared__ float buffer[2][32];
  int lane = threadIdx.x & 31;
  bool producer = threadIdx.x < 32;
  for (int k = 0; k < n; k++) {
    if (producer) {
      if (k >= 2) asm volatile("bar.sync %0, 64;" ::"r"(3 + (k & 1)) : "memory");
      buffer[k & 1][lane] = x[k * 32 + lane];
      asm volatile("bar.arrive %0, 64;" ::"r"(1 + (k & 1)) : "memory");
    } else {
      asm volatile("bar.sync %0, 64;" ::"r"(1 + (k & 1)) : "memory");
      y[k * 32 + lane] = 2.0f * buffer[k & 1][31 - lane];
      if (k + 2 < n) asm volatile("bar.arrive %0, 64;" ::"r"(3 + (k & 1)) : "memory");
    }
  }
}

// Threads that have nothing to do leave before the barrier.
extern "C" __global__ void early_exit(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t >= n) return;
  s[t] = x[t];
  __syncthreads();
  y[t] = s[n - 1 - t];
}

// Recursion keeps arrays of device functions on the stack.
__device__ __attribute__((noinline)) int walk(const int* x, int depth) {
  int near[4];
  for (int k = 0; k < 4; k++) near[k] = x[(depth + k) & 3];
  if (depth == 0) return near[x[0] & 3];
  return near[depth & 3] + walk(near, depth - 1);
}
extern "C" __global__ void recursive(const int* x, int* y) {
  int mine[4] = {x[0], x[1], x[2], (int)threadIdx.x};
  y[threadIdx.x] = walk(mine, threadIdx.x & 3);
}

// Blocks read what others have written before the grid met.
extern "C" __global__ void grid_shift(const float* x, float* scratch, float* y) {
  auto grid = cg::this_grid();
  int i = grid.thread_rank();
  scratch[i] = x[i];
  grid.sync();
  y[i] = scratch[grid.num_threads() - 1 - i];
}
