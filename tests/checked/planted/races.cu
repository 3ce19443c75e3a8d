// races.cu: kernels whose threads do not wait for each other.

// The second barrier of the loop is missing.
// CALL: f32(32, 32), f32(32, 32) | n n, n n -> n n | grid=(2, 2), block=(16, 16)
// SAYS: shared memory 'tile_a' (1024 bytes); data race; __syncthreads()
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[16][16];
  __shared__ float tile_b[16][16];
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0.0f;
  for (int first = 0; first < n; first += 16) {
    tile_a[y][x] = a[row * n + first + x];  // BUG matmul
    tile_b[y][x] = b[(first + y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += tile_a[y][k] * tile_b[k][x];
  }
  c[row * n + column] = sum;
}

// CALL: f32(256) | 256 -> 2 | grid=2, block=128
// SAYS: shared memory 's' (512 bytes); data race; __syncthreads()
extern "C" __global__ void reduce(const float* x, float* y) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 128 + t];
  __syncthreads();
  for (int k = 64; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];  // BUG reduce
  }
  if (t == 0) y[blockIdx.x] = s[0];
}

// Enough for a warp, not for the block.
// SAYS: shared memory 's'; data race; thread (127,0,0)
extern "C" __global__ void reduce_by_warp(const float* x, float* y) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 128 + t];  // BUG reduce_by_warp
  __syncwarp();
  float sum = 0.0f;
  if (t == 127) {
    for (int k = 0; k < 128; k++) sum += s[k];  // BUG reduce_by_warp
    y[blockIdx.x] = sum;
  }
}

// CALL: below(4, 128), zeros(4) | n, 4 | block=64, in_out="total"
// SAYS: argument 'total' (int32[4]); data race; atomic
extern "C" __global__ void histogram(const int* bin, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) total[bin[i]]++;  // BUG histogram
}

// CALL: below(16, 64) | n -> 16 | grid=1, block=64
// SAYS: shared memory 'local' (64 bytes); data race
extern "C" __global__ void shared_histogram(const int* bin, int* total, int n) {
  __shared__ int local[16];
  int t = threadIdx.x;
  if (t < 16) local[t] = 0;
  __syncthreads();
  if (t < n) local[bin[t]] += 1;  // BUG shared_histogram
  __syncthreads();
  if (t < 16) total[t] = local[t];
}

// CALL: f32(32) | n -> n | grid=1, block=32
// SAYS: shared memory 's'; data race; __syncwarp()
extern "C" __global__ void no_syncwarp(const float* x, float* y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = 0.0f;
  __syncthreads();
  s[t] = x[t];      // BUG no_syncwarp
  y[t] = s[t ^ 1];  // BUG no_syncwarp
}

// Thread 0 goes on to the next value while others still read this one.
// CALL: f32(4) | n -> 64 | grid=1, block=64
// SAYS: shared memory 'value' (4 bytes); data race
extern "C" __global__ void broadcast(const float* x, float* y, int n) {
  __shared__ float value;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) {
    if (threadIdx.x == 0) value = x[i];  // BUG broadcast
    __syncthreads();
    sum += value;  // BUG broadcast
  }
  y[threadIdx.x] = sum;
}

// Neighbouring blocks write the same element.
// CALL: f32(128) | n -> n | block=64
// SAYS: argument 'y' (float32[128]); data race; element 64; Blocks run in any
extern "C" __global__ void overlapping_halo(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = x[i];  // BUG overlapping_halo
  if (threadIdx.x == blockDim.x - 1 && i + 1 < n) {
    y[i + 1] = 0.5f * x[i];  // BUG overlapping_halo
  }
}

// CALL: f32(128) | n | block=64, in_out="u"
// SAYS: argument 'u' (float32[128]); data race
extern "C" __global__ void stencil_in_place(float* u, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0 || i >= n - 1) return;
  u[i] = 0.5f * (u[i - 1] + u[i + 1]);  // BUG stencil_in_place
}

// The last block may see the others' counts, but not what they have written before.
// CALL: f32(8), zeros(8, "f4"), zeros(1, "u4") | 8, 8, 1 -> 1 | grid=8, block=32,
//   in_out=("partial", "done")
// SAYS: argument 'partial' (float32[8]); data race; block (7,0,0)
extern "C" __global__ void last_block(const float* x, float* partial, unsigned* done,
                                      float* y) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = x[blockIdx.x];  // BUG last_block
    last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float sum = 0.0f;
    for (int b = 0; b < gridDim.x; b++) sum += partial[b];  // BUG last_block
    *y = sum;
  }
}

// A plain read of what others update atomically.
// CALL: below(9, 64), zeros(1) | n, 1 -> n | block=64, in_out="total"
// SAYS: argument 'total' (int32[1]); data race
extern "C" __global__ void mixed_counter(const int* x, int* total, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(total, x[i]);  // BUG mixed_counter
  y[i] = *total;           // BUG mixed_counter
}

__device__ int ticket;
// CALL: | -> 64 | grid=2, block=32
// SAYS: global variable 'ticket' (4 bytes); data race
extern "C" __global__ void global_variable(int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = ticket;
  ticket = i + 1;  // BUG global_variable
}

// Only one of the two halves comes to each barrier.
// CALL: f32(64) | n -> n | grid=1, block=64
// SAYS: divergent __syncthreads; thread (0,0,0), block (0,0,0); thread (32,0,0)
extern "C" __global__ void divergent(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  if (t < 32) {
    s[t] += 1.0f;
    __syncthreads();  // BUG divergent
  } else {
    s[t] -= 1.0f;
    __syncthreads();  // BUG divergent
  }
  y[t] = s[63 - t];
}

// SAYS: deadlock in block (0,0,0); 16 threads wait; 48 threads wait
extern "C" __global__ void stuck(const float* x, float* y) {
  int t = threadIdx.x;
  float value = x[t];
  if (t < 16)
    value += __shfl_xor_sync(0xffffffff, value, 1);  // BUG stuck
  else
    __syncthreads();  // BUG stuck
  y[t] = value;
}

// Half of the threads that the barrier waits for.
// SAYS: deadlock in block (0,0,0); 32 threads wait
extern "C" __global__ void too_few_arrive(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  if (t < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");  // BUG too_few_arrive
    s[t] += 1.0f;
  }
  y[t] = s[t];
}
