// contents.cu: kernels that read what nobody has written, write what is not theirs, or
// leave results unwritten. The line that a report must name ends in BUG and the kernel.

extern "C" __global__ void write_const(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = x[i];
  ((float*)x)[i] = 0.0f;  // BUG write_const
}

extern "C" __global__ void count_into_const(const int* x, const int* total, int* y,
                                            int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = atomicAdd((int*)&total[x[i]], 1);  // BUG count_into_const
}

// The threads beyond the array leave their part of the tile unwritten.
extern "C" __global__ void ragged_tile(const float* x, float* y, int n) {
  __shared__ float tile[64];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  if (i < n) tile[t] = x[i];
  __syncthreads();
  float sum = 0.0f;
  for (int k = 0; k < 64; k++) {
    sum += tile[k];  // BUG ragged_tile
  }
  if (i < n) y[i] = sum;
}

// Shared memory does not keep what the last block left in it.
extern "C" __global__ void left_by_last_block(const float* x, float* y) {
  __shared__ float kept;
  if (blockIdx.x == 0 && threadIdx.x == 0) kept = x[0];
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = kept;  // BUG left_by_last_block
}

extern "C" __global__ void read_workspace(const float* x, float* scratch, float* y,
                                          int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  scratch[i] = x[i];
  y[i] = scratch[2 * i + 1];  // BUG read_workspace
}

extern "C" __global__ void accumulate(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];  // BUG accumulate
}

extern "C" __global__ void unfilled_total(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(y, x[i]);  // BUG unfilled_total
}

extern "C" __global__ void too_few_threads(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

extern "C" __global__ void after_free(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int* volatile buffer = (int*)malloc(8 * sizeof(int));
  buffer[x[i] & 7] = i;
  free(buffer);
  y[i] = buffer[x[i] & 7];  // BUG after_free
}

extern "C" __global__ void double_free(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int* volatile buffer = (int*)malloc(8 * sizeof(int));
  y[i] = x[i];
  free(buffer);
  if (x[i] == 3) free(buffer);  // BUG double_free
}
