// contents.cu: kernels that read what nobody has written, write what is not theirs, or
// leave results unwritten.

// SAYS: argument 'scratch' (516 bytes; that nothing has written
extern "C" __global__ void read_workspace(const float* x, float* scratch, float* y,
                                          int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  scratch[i] = x[i];
  y[i] = scratch[2 * i + 1];  // BUG read_workspace
}

// CALL: f32(64) | n -> n | block=64
// SAYS: argument 'x' (float32[64]); write of 4 bytes; read-only memory
extern "C" __global__ void write_const(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = x[i];
  ((float*)x)[i] = 0.0f;  // BUG write_const
}

// CALL: below(4, 64), zeros(4) | n, 4 -> n | block=64
// SAYS: argument 'total' (int32[4]); atomic update; read-only memory
extern "C" __global__ void count_into_const(const int* x, const int* total, int* y,
                                            int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = atomicAdd((int*)&total[x[i]], 1);  // BUG count_into_const
}

// The threads beyond the array leave their part of the tile unwritten.
// CALL: f32(100) | n -> n | block=64
// SAYS: shared memory 'tile' (256 bytes); byte offset 144; has written; block (1,0,0)
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
// CALL: f32(128) | n -> n | grid=2, block=64
// SAYS: shared memory 'kept' (4 bytes); has written; block (1,0,0)
extern "C" __global__ void left_by_last_block(const float* x, float* y) {
  __shared__ float kept;
  if (blockIdx.x == 0 && threadIdx.x == 0) kept = x[0];
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = kept;  // BUG left_by_last_block
}

// CALL: f32(64) | n -> n | block=64
// SAYS: argument 'y' (float32[64]); read of 4 bytes; has written; fill=
extern "C" __global__ void accumulate(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];  // BUG accumulate
}

// CALL: f32(64) | n -> 1 | block=64
// SAYS: argument 'y' (float32[1]); atomic update; has written
extern "C" __global__ void unfilled_total(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(y, x[i]);  // BUG unfilled_total
}

// CALL: f32(100) | n -> n | grid=1, block=64
// SAYS: result 'y' (float32[100]); 36 of 100 elements are never written;
//   first is element 64
extern "C" __global__ void too_few_threads(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

// CALL: below(8, 4) | n -> n | block=64
// SAYS: memory from malloc (32 bytes); read of 4 bytes; after free
extern "C" __global__ void after_free(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int* volatile buffer = (int*)malloc(8 * sizeof(int));
  buffer[x[i] & 7] = i;
  free(buffer);
  y[i] = buffer[x[i] & 7];  // BUG after_free
}

// CALL: i32(1, 3, 5, 3) | n -> n | block=64
// SAYS: free of 0x; free already; thread (1,0,0)
extern "C" __global__ void double_free(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int* volatile buffer = (int*)malloc(8 * sizeof(int));
  y[i] = x[i];
  free(buffer);
  if (x[i] == 3) free(buffer);  // BUG double_free
}
