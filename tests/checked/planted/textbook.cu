// textbook.cu: what tutorials teach, with a mistake and without.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

// The tiles are filled again while some threads still read them.
// CALL: f32(16, 16), f32(16, 16) | n n, n n -> n n | grid=(2, 2), block=(8, 8)
// SAYS: shared memory 'as' (256 bytes); data race; not ordered
extern "C" __global__ void matmul_reuse(const float* a, const float* b, float* c,
                                        int n) {
  __shared__ float as[8][8], bs[8][8];
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    as[y][x] = a[row * n + k + x];  // BUG matmul_reuse
    bs[y][x] = b[(k + y) * n + col];
    __syncthreads();
    for (int i = 0; i < 8; i++) sum += as[y][i] * bs[i][x];  // BUG matmul_reuse
#if RIGHT
    __syncthreads();
#endif
  }
  c[row * n + col] = sum;
}

// The guard of the second operand tests the wrong index.
// CALL: f32(10, 12), f32(12, 10) | m k, k n -> m n | grid=(2, 2), block=(8, 8)
// SAYS: argument 'b' (float32[12,10]); out of bounds; element 120; thread (0,4,0)
extern "C" __global__ void matmul_guard(const float* a, const float* b, float* c, int m,
                                        int n, int k) {
  __shared__ float as[8][8], bs[8][8];
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
  float sum = 0;
  for (int i = 0; i < k; i += 8) {
    as[y][x] = row < m && i + x < k ? a[row * k + i + x] : 0.0f;
    bool inside = RIGHT ? i + y < k && col < n : i + x < k && col < n;
    bs[y][x] = inside ? b[(i + y) * n + col] : 0.0f;  // BUG matmul_guard
    __syncthreads();
    for (int j = 0; j < 8; j++) sum += as[y][j] * bs[j][x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

// No thread loads the right halo.
// CALL: f32(100) | n -> n | grid=4, block=32
// SAYS: 's' (136 bytes); that nothing has written; (element 33); thread (31,0,0)
extern "C" __global__ void halo(const float* x, float* y, int n) {
  __shared__ float s[34];
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  s[t + 1] = i < n ? x[i] : 0.0f;
  if (t == 0) s[0] = i > 0 ? x[i - 1] : 0.0f;
  if (t == (RIGHT ? 31 : 32)) s[33] = i + 1 < n ? x[i + 1] : 0.0f;
  __syncthreads();
  if (i < n) y[i] = s[t] + s[t + 1] + s[t + 2];  // BUG halo
}

// The total is cleared while the up-sweep still reads it.
// CALL: f32(64) | 64 -> 64 | grid=1, block=32
// SAYS: 's' (256 bytes); data race; not ordered; (element 63); thread (31,0,0)
extern "C" __global__ void blelloch(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x, d = 1;
  s[2 * t] = x[2 * t];
  s[2 * t + 1] = x[2 * t + 1];
  for (int k = 32; k > 0; k /= 2, d *= 2) {
    __syncthreads();
    if (t < k) s[d * (2 * t + 2) - 1] += s[d * (2 * t + 1) - 1];
  }
#if RIGHT
  __syncthreads();
#endif
  if (t == 31) s[63] = 0;  // BUG blelloch
  for (int k = 1; k < 64; k *= 2) {
    d /= 2;
    __syncthreads();
    if (t < k) {
      float v = s[d * (2 * t + 1) - 1];
      s[d * (2 * t + 1) - 1] = s[d * (2 * t + 2) - 1];
      s[d * (2 * t + 2) - 1] += v;
    }
  }
  __syncthreads();
  y[2 * t] = s[2 * t];
  y[2 * t + 1] = s[2 * t + 1];
}

// Fewer threads than bins clear them.
// CALL: i32(*range(256)) | n -> 256 | grid=1, block=128
// SAYS: 'bins'; that nothing has written; (element 128); thread (0,0,0)
extern "C" __global__ void histogram(const int* x, int* y, int n) {
  __shared__ int bins[256];
#if RIGHT
  for (int b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;
#else
  bins[threadIdx.x] = 0;
#endif
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    atomicAdd(&bins[x[i]], 1);  // BUG histogram
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) y[b] = bins[b];
}

// Blocks add their bins without atomics.
// CALL: below(16, 64), zeros(16) | n, 16 | grid=2, block=32, in_out="y"
// SAYS: argument 'y' (int32[16]); data race; not ordered; block (1,0,0)
extern "C" __global__ void merge_bins(const int* x, int* y, int n) {
  __shared__ int bins[16];
  int t = threadIdx.x;
  if (t < 16) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[x[blockIdx.x * 32 + t]], 1);
  __syncthreads();
  if (t < 16) {
#if RIGHT
    atomicAdd(&y[t], bins[t]);
#else
    y[t] += bins[t];  // BUG merge_bins
#endif
  }
}

// There is one stage instead of two.
// CALL: f32(3, 32) | n 32 -> 32 | grid=1, block=32
// SAYS: 's'; data race; not ordered
extern "C" __global__ void pipeline_reuse(const float* x, float* y, int n) {
  __shared__ float s[2][32];
  int t = threadIdx.x;
  s[0][t] = x[t];
  float sum = 0;
  for (int i = 0; i < n; i++) {
    __syncthreads();
    int next = RIGHT ? (i + 1) & 1 : 0;
    float use = s[RIGHT ? i & 1 : 0][t ^ 1];
    if (i + 1 < n) s[next][t] = x[(i + 1) * 32 + t];  // BUG pipeline_reuse
    sum += use;
  }
  y[t] = sum;
}

// A node is read after it is free.
struct Node {
  int value;
  Node* next;
};
// CALL: below(9, 32, 4) | 32 n -> 32 | grid=1, block=32
// SAYS: memory from malloc (16 bytes); byte offset 8; after free
extern "C" __global__ void list(const int* x, int* y, int n) {
  int t = threadIdx.x;
  Node* head = nullptr;
  for (int i = 0; i < n; i++) {
    Node* node = (Node*)malloc(sizeof(Node));
    node->value = x[t * n + i];
    node->next = head;
    head = node;
  }
  int sum = 0;
  for (Node* node = head; node != nullptr;) {
    sum += node->value;
#if RIGHT
    Node* next = node->next;
    free(node);
    node = next;
#else
    free(node);
    node = node->next;  // BUG list
#endif
  }
  y[t] = sum;
}

// Lanes of a tile read what others write.
// CALL: f32(64) | 64 -> 64 | grid=1, block=64
// SAYS: 's'; that nothing has written; 15)
extern "C" __global__ void tile_exchange(const float* x, float* y) {
  __shared__ float s[64];
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  int t = threadIdx.x, base = t / 16 * 16;
  s[t] = x[t];
#if RIGHT
  tile.sync();
#endif
  y[t] = s[base + 15 - tile.thread_rank()];  // BUG tile_exchange
}

// The blocks do not meet.
// CALL: f32(64), zeros(64, "f4") | n, n -> n | grid=2, block=32, in_out="scratch",
//   cooperative=True
// SAYS: argument 'scratch' (float32[64]); data race; not ordered; block (1,0,0)
extern "C" __global__ void grid_pass(const float* x, float* scratch, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  scratch[i] = 2 * x[i];
#if RIGHT
  cg::this_grid().sync();
#else
  __syncthreads();
#endif
  y[i] = scratch[n - 1 - i];  // BUG grid_pass
}

// The flag arrives before the value.
// CALL: f32(1), zeros(2, "f4"), zeros(1) | 1, 2, 1 | grid=2, block=32, in_out=("y",
//   "flag")
// SAYS: argument 'y' (float32[2]); data race; not ordered; block (1,0,0); block (0,0,0)
extern "C" __global__ void hand_over(const float* x, float* y, int* flag) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) {
      y[0] = x[0];
#if RIGHT
      __threadfence();
#endif
      atomicExch(flag, 1);
    } else {
      while (atomicAdd(flag, 0) == 0) {
      }
#if RIGHT
      __threadfence();
#endif
      y[1] = y[0] + 1;  // BUG hand_over
    }
  }
}

// The word of the maximum gets the sum.
// CALL: f32(32) | 32 -> 32 | grid=1, block=32
// SAYS: 'word' (4 bytes); data race; not ordered
extern "C" __global__ void softmax(const float* x, float* y) {
  __shared__ float word;
  int t = threadIdx.x;
  float m = x[t];
  for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  if (t == 0) word = m;
  __syncthreads();
  float e = __expf(x[t] - word), sum = e;  // BUG softmax
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
#if RIGHT
  __syncthreads();
#endif
  if (t == 0) word = sum;  // BUG softmax
  __syncthreads();
  y[t] = e / word;
}

// Doubles begin after an odd number of ints.
// CALL: f32(21) | n -> n | grid=1, block=32, shared_mem_bytes=512
// SAYS: 'raw' (512 bytes); misaligned write of 8 bytes; offset 84; Align the
extern "C" __global__ void carved_doubles(const float* x, float* y, int n) {
  extern __shared__ char raw[];
  int* keys = (int*)raw;
  double* sums = (double*)(keys + (RIGHT ? (n + 1) / 2 * 2 : n));
  int t = threadIdx.x;
  if (t < n) keys[t] = t;
  if (t < n) sums[t] = x[t];  // BUG carved_doubles
  __syncthreads();
  if (t < n) y[t] = sums[n - 1 - t] + keys[t];
}

// A path is longer than the array for it.
__device__ int walk(const int* left, const int* right, int at, int* path, int depth) {
  if (at < 0) return depth;
  path[depth] = at;  // BUG tree_path
  int a = walk(left, right, left[at], path, depth + 1);
  int b = walk(left, right, right[at], path, depth + 1);
  return a > b ? a : b;
}
// CALL: i32(1, 3, -1, 4, -1), i32(2, -1, -1, -1, -1) | 5, 5 -> 32 | grid=1, block=32
// SAYS: local memory of a thread (12 bytes); out of bounds; (element 3)
extern "C" __global__ void tree_path(const int* left, const int* right, int* y) {
  int path[RIGHT ? 8 : 3];
  y[threadIdx.x] = walk(left, right, 0, path, 0) + path[threadIdx.x & 1];
}

// A named barrier waits for threads that never come.
// CALL: f32(64) | 64 -> 64 | grid=1, block=64
// SAYS: deadlock; 32 threads wait; 32 have exited
extern "C" __global__ void few_at_barrier(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  if (t < 32)
    asm volatile("bar.sync 1, %0;" ::"r"(RIGHT ? 32 : 64));  // BUG few_at_barrier
  y[t] = t < 32 ? s[31 - t] : s[t];
}

// The threads that would clear the rest have left.
// CALL: f32(50) | n -> n | grid=1, block=64
// SAYS: 's' (256 bytes); that nothing has written; (element 50)
extern "C" __global__ void gone_rows(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
#if !RIGHT
  if (t >= n) return;
#endif
  s[t] = t < n ? x[t] : 0;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 64; i++) sum += s[i];  // BUG gone_rows
  if (t < n) y[t] = sum;
}

// More items than slots.
// CALL: np.ones(96, "i4") | 96 -> 32 | grid=1, block=32
// SAYS: 'items' (256 bytes); out of bounds write; (element 64)
extern "C" __global__ void queue(const int* x, int* y) {
  __shared__ int items[64], head, tail;
  int t = threadIdx.x;
  if (t == 0) head = 0, tail = 0;
  __syncthreads();
  for (int i = 0; i < 3; i++) {
    if (x[t * 3 + i]) {
      int at = atomicAdd(&tail, 1);
      if (!RIGHT || at < 64) items[at] = t;  // BUG queue
    }
  }
  __syncthreads();
  int at = atomicAdd(&head, 1);
  y[t] = at < min(tail, 64) ? items[at] : -1;
}
