// saxpy.cu: out = a * x + y, with one thread per element and with a grid-stride loop.

template <typename T>
__global__ void axpy(const T* __restrict__ x,  // T[n]
                     const T* __restrict__ y,  // T[n]
                     T a,
                     T* __restrict__ out,  // T[n]
                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}

extern "C" __global__ void saxpy_grid_stride(const float* __restrict__ x,  // f32[n]
                                             const float* __restrict__ y,  // f32[n]
                                             float a,
                                             float* __restrict__ out,  // f32[n]
                                             long long n) {
  long long stride = (long long)gridDim.x * blockDim.x;
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < n; i += stride) out[i] = a * x[i] + y[i];
}
