// fp8.cu: the eight-bit floats of cuda_fp8.h, alone, in pairs and in fours.
#include <cuda_fp8.h>

template <typename Narrow, typename Wide>
__global__ void narrowed(const Wide* x, Narrow* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = Narrow(x[i]);
}

template <typename Narrow>
__global__ void widened(const Narrow* x, float* f, double* d, __half* h,
                        __nv_bfloat16* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  f[i] = static_cast<float>(x[i]);
  d[i] = static_cast<double>(x[i]);
  h[i] = static_cast<__half>(x[i]);
  b[i] = static_cast<__nv_bfloat16>(x[i]);
}

template <typename Narrow, typename Wide>
__global__ void vectors(const Wide* x, Narrow* y, Wide* back, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = Narrow(x[i]);
  back[i] = static_cast<Wide>(y[i]);
}

// What does not fit is infinite, or NaN where the format has no infinity.
extern "C" __global__ void unbounded(const float* x, unsigned char* e4m3,
                                     unsigned char* e5m2, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  e4m3[i] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, __NV_E4M3);
  e5m2[i] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, __NV_E5M2);
}

extern "C" __global__ void scales(const __nv_fp8_e8m0* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = static_cast<float>(x[i]);
}
