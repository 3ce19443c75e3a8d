// bounds.cu: kernels that leave an array, or read it at the wrong place. The line that
// a report must name ends in BUG and the kernel's name.
#include <cuda_pipeline.h>

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
extern "C" __global__ void stencil_left(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] - left_of(x, i);
}

// The output is w x h, so its rows have h elements.
extern "C" __global__ void transpose_stride(const float* x, float* y, int h, int w) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < w && row < h) {
    y[column * w + row] = x[row * w + column];  // BUG transpose_stride
  }
}

extern "C" __global__ void missing_guard(float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 1.0f;  // BUG missing_guard
}

// The array holds float, not double.
extern "C" __global__ void wrong_size(const void* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (float)((const double*)x)[i];  // BUG wrong_size
}

extern "C" __global__ void dynamic_shared(const float* x, float* y, int n) {
  extern __shared__ float row[];
  int t = threadIdx.x;
  row[t + 1] = x[t];  // BUG dynamic_shared
  __syncthreads();
  y[t] = row[t + 1];
}

extern "C" __global__ void unsized_shared(const float* x, float* y, int n) {
  extern __shared__ float row[];
  int t = threadIdx.x;
  row[t] = x[t];  // BUG unsized_shared
  __syncthreads();
  y[t] = row[t];
}

// The first array runs over into the second.
extern "C" __global__ void shared_neighbour(const float* x, float* y, int shift) {
  __shared__ float low[32];
  __shared__ float high[32];
  int t = threadIdx.x;
  high[t] = x[t];
  low[t + shift] = x[t];  // BUG shared_neighbour
  __syncthreads();
  y[t] = low[31 - t] + high[31 - t];
}

extern "C" __global__ void local_array(const int* digit, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int count[8] = {};
  for (int k = 0; k < 4; k++) {
    count[(digit[i] + k) % 9]++;  // BUG local_array
  }
  y[i] = count[digit[i] & 7];
}

extern "C" __global__ void gather(const float* x, const int* index, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[index[i]];  // BUG gather
}

extern "C" __global__ void bin_too_high(const int* bin, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&total[bin[i]], 1);  // BUG bin_too_high
}

// Far enough to land in any other array.
extern "C" __global__ void far_away(const float* x, const float* z, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = z[i] + x[(long long)i * 262144];  // BUG far_away
}

// Three elements are left for the last vector.
extern "C" __global__ void vector_tail(const float* x, float* y, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  float4 v = *(const float4*)(x + i);  // BUG vector_tail
  float sum = v.x + v.y + v.z + v.w;
  for (int k = i; k < i + 4 && k < n; k++) y[k] = sum;
}

extern "C" __global__ void async_copy(const float* x, float* y, int n) {
  __shared__ float tile[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[i], 4);  // BUG async_copy
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (i < n) y[i] = tile[threadIdx.x];
}

__constant__ float weights[4] = {1.0f, 2.0f, 3.0f, 4.0f};
extern "C" __global__ void constant_table(const int* kind, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = weights[kind[i]];  // BUG constant_table
}

extern "C" __global__ void misaligned_vector(const float* x, float* y, int shift) {
  const float4* vectors = (const float4*)(x + shift);
  float4 v = vectors[threadIdx.x];  // BUG misaligned_vector
  y[threadIdx.x] = v.x + v.y + v.z + v.w;
}

extern "C" __global__ void misaligned_shared(const float* x, float* y, int shift) {
  __shared__ char bytes[1024];
  int t = threadIdx.x;
  double* values = (double*)(bytes + shift);
  values[t] = x[t];  // BUG misaligned_shared
  __syncthreads();
  y[t] = (float)values[t];
}

extern "C" __global__ void null_pointer(const float* x, const float* bias, float* y,
                                        int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + bias[i];  // BUG null_pointer
}

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
