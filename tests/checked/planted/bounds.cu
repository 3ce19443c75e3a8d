// bounds.cu: kernels that leave an array, or read it at the wrong place.
#include <cuda_pipeline.h>

// SAYS: null_pointer: check failed: null pointer: read of 4 bytes at
extern "C" __global__ void null_pointer(const float* x, const float* bias, float* y,
                                        int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + bias[i];  // BUG null_pointer
}

// CALL: f32(100) | n -> n | block=64
// SAYS: argument 'x' (float32[100]); out of bounds read of 4 bytes; byte offset 400;
//   (element 100); 0 bytes past its end; thread (35,0,0), block (1,0,0)
extern "C" __global__ void stencil_right(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n) {
    y[i] = x[i - 1] - 2.0f * x[i] + x[i + 1];  // BUG stencil_right
  } else if (i == 0) {
    y[i] = 0.0f;
  }
}

__device__ float left_of(const float* p, int i) {
  return p[i - 1];  // BUG stencil_left
}
// SAYS: argument 'x' (float32[100]); byte offset -4 (element -1);
//   4 bytes before its start; thread (0,0,0), block (0,0,0)
extern "C" __global__ void stencil_left(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] - left_of(x, i);
}

// The output is w x h, so its rows have h elements.
// CALL: f32(8, 24) | h w -> w h | grid=1, block=(24, 8)
// SAYS: argument 'y' (float32[24,8]); out of bounds write of 4 bytes; element 192
extern "C" __global__ void transpose_stride(const float* x, float* y, int h, int w) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < w && row < h) {
    y[column * w + row] = x[row * w + column];  // BUG transpose_stride
  }
}

// CALL: | -> 100 | grid=2, block=64
// SAYS: argument 'y' (float32[100]); element 100; thread (36,0,0)
extern "C" __global__ void missing_guard(float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 1.0f;  // BUG missing_guard
}

// The array holds float, not double.
// CALL: f32(64) | n -> n | block=64
// SAYS: argument 'x' (float32[64]); read of 8 bytes; byte offset 256
extern "C" __global__ void wrong_size(const void* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (float)((const double*)x)[i];  // BUG wrong_size
}

// CALL: f32(32) | n -> n | grid=1, block=32, shared_mem_bytes=128
// SAYS: shared memory 'row' (128 bytes); byte offset 128 (element 32); thread (31,0,0);
//   or give the launch more shared_mem_bytes=.
extern "C" __global__ void dynamic_shared(const float* x, float* y, int n) {
  extern __shared__ float row[];
  int t = threadIdx.x;
  row[t + 1] = x[t];  // BUG dynamic_shared
  __syncthreads();
  y[t] = row[t + 1];
}

// CALL: f32(32) | n -> n | grid=1, block=32
// SAYS: 'row' (0 bytes); out of bounds;
//   Give the launch shared_mem_bytes=: it has none.
extern "C" __global__ void unsized_shared(const float* x, float* y, int n) {
  extern __shared__ float row[];
  int t = threadIdx.x;
  row[t] = x[t];  // BUG unsized_shared
  __syncthreads();
  y[t] = row[t];
}

// The first array runs over into the second.
// CALL: f32(32), 4 | n -> n | grid=1, block=32
// SAYS: shared memory 'low' (128 bytes); byte offset 128; thread (28,0,0)
extern "C" __global__ void shared_neighbour(const float* x, float* y, int shift) {
  __shared__ float low[32];
  __shared__ float high[32];
  int t = threadIdx.x;
  high[t] = x[t];
  low[t + shift] = x[t];  // BUG shared_neighbour
  __syncthreads();
  y[t] = low[31 - t] + high[31 - t];
}

// CALL: below(9, 64) | n -> n | block=64
// SAYS: local memory of a thread (32 bytes); byte offset 32
extern "C" __global__ void local_array(const int* digit, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int count[8] = {};
  for (int k = 0; k < 4; k++) {
    count[(digit[i] + k) % 9]++;  // BUG local_array
  }
  y[i] = count[digit[i] & 7];
}

// CALL: f32(10), i32(*range(9), 10) | m, n -> n | block=64
// SAYS: argument 'x' (float32[10]); element 10; thread (9,0,0)
extern "C" __global__ void gather(const float* x, const int* index, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[index[i]];  // BUG gather
}

// CALL: i32(0, 3, 64, 2), zeros(64) | n, 64 | block=64, in_out="total"
// SAYS: argument 'total' (int32[64]); out of bounds atomic update; element 64;
//   thread (2,0,0)
extern "C" __global__ void bin_too_high(const int* bin, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&total[bin[i]], 1);  // BUG bin_too_high
}

// Far enough to land in any other array.
// CALL: f32(4096), f32(4096) | n, n -> n | block=64
// SAYS: argument 'x' (float32[4096]); byte offset 1048576 (element 262144)
extern "C" __global__ void far_away(const float* x, const float* z, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = z[i] + x[(long long)i * 262144];  // BUG far_away
}

// Three elements are left for the last vector.
// CALL: f32(67) | n -> n | block=64
// SAYS: argument 'x' (float32[67]); read of 16 bytes; byte offset 256;
//   goes 4 bytes beyond its end
extern "C" __global__ void vector_tail(const float* x, float* y, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  float4 v = *(const float4*)(x + i);  // BUG vector_tail
  float sum = v.x + v.y + v.z + v.w;
  for (int k = i; k < i + 4 && k < n; k++) y[k] = sum;
}

// CALL: f32(100) | n -> n | block=128
// SAYS: argument 'x' (float32[100]); out of bounds read of 4 bytes; element 100
extern "C" __global__ void async_copy(const float* x, float* y, int n) {
  __shared__ float tile[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[i], 4);  // BUG async_copy
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (i < n) y[i] = tile[threadIdx.x];
}

__constant__ float weights[4] = {1.0f, 2.0f, 3.0f, 4.0f};
// CALL: i32(0, 1, 4, 2) | n -> n | block=64
// SAYS: constant variable 'weights' (16 bytes); out of bounds read; element 4
extern "C" __global__ void constant_table(const int* kind, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = weights[kind[i]];  // BUG constant_table
}

// CALL: f32(36), 1 | 36 -> 8 | grid=1, block=8
// SAYS: argument 'x' (float32[36]); misaligned read of 16 bytes;
//   byte offset 4 (element 1); multiple of 16 bytes
extern "C" __global__ void misaligned_vector(const float* x, float* y, int shift) {
  const float4* vectors = (const float4*)(x + shift);
  float4 v = vectors[threadIdx.x];  // BUG misaligned_vector
  y[threadIdx.x] = v.x + v.y + v.z + v.w;
}

// CALL: f32(32), 4 | n -> n | grid=1, block=32
// SAYS: shared memory 'bytes' (1024 bytes); misaligned write of 8 bytes
extern "C" __global__ void misaligned_shared(const float* x, float* y, int shift) {
  __shared__ char bytes[1024];
  int t = threadIdx.x;
  double* values = (double*)(bytes + shift);
  values[t] = x[t];  // BUG misaligned_shared
  __syncthreads();
  y[t] = (float)values[t];
}

// CALL: i32(3, 7, 8, 1) | n -> n | block=64
// SAYS: memory from malloc (32 bytes); out of bounds write; byte offset 32;
//   thread (2,0,0)
extern "C" __global__ void heap_overrun(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int* buffer = (int*)malloc(8 * sizeof(int));
  for (int k = 0; k <= x[i]; k++) {
    buffer[k] = k;  // BUG heap_overrun
  }
  y[i] = buffer[x[i] / 2];
  free(buffer);
}
