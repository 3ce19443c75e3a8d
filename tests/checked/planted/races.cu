// races.cu: kernels whose threads do not wait for each other. The lines that a report
// must name end in BUG and the kernel's name.

// The second barrier of the loop is missing.
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

extern "C" __global__ void histogram(const int* bin, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) total[bin[i]]++;  // BUG histogram
}

extern "C" __global__ void shared_histogram(const int* bin, int* total, int n) {
  __shared__ int local[16];
  int t = threadIdx.x;
  if (t < 16) local[t] = 0;
  __syncthreads();
  if (t < n) local[bin[t]] += 1;  // BUG shared_histogram
  __syncthreads();
  if (t < 16) total[t] = local[t];
}

extern "C" __global__ void no_syncwarp(const float* x, float* y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = 0.0f;
  __syncthreads();
  s[t] = x[t];      // BUG no_syncwarp
  y[t] = s[t ^ 1];  // BUG no_syncwarp
}

// Thread 0 goes on to the next value while others still read this one.
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
extern "C" __global__ void overlapping_halo(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = x[i];  // BUG overlapping_halo
  if (threadIdx.x == blockDim.x - 1 && i + 1 < n) {
    y[i + 1] = 0.5f * x[i];  // BUG overlapping_halo
  }
}

extern "C" __global__ void stencil_in_place(float* u, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0 || i >= n - 1) return;
  u[i] = 0.5f * (u[i - 1] + u[i + 1]);  // BUG stencil_in_place
}

// The last block may see the others' counts, but not what they have written before.
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
extern "C" __global__ void mixed_counter(const int* x, int* total, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(total, x[i]);  // BUG mixed_counter
  y[i] = *total;           // BUG mixed_counter
}

__device__ int ticket;
extern "C" __global__ void global_variable(int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = ticket;
  ticket = i + 1;  // BUG global_variable
}

// Only one of the two halves comes to each barrier.
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
