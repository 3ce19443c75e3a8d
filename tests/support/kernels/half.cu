// half.cu: pairs of half numbers and single bfloat16 numbers. Each operation rounds
// once, so a reference in single precision, rounded, is exact.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half2_axpy(const __half2* __restrict__ x,  // f16[n], n even
                                      const __half2* __restrict__ y,  // f16[n]
                                      __half2* __restrict__ sum,      // f16[n], x + y
                                      __half2* __restrict__ product,  // f16[n], x * y
                                      int pairs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  sum[i] = __hadd2(x[i], y[i]);
  product[i] = __hmul2(x[i], y[i]);
}

extern "C" __global__ void bfloat16_scale(
    const __nv_bfloat16* __restrict__ x,  // bf16[n]
    const float* __restrict__ scale,      // f32[n]
    __nv_bfloat16* __restrict__ scaled,   // bf16[n], x * scale rounded
    __nv_bfloat16* __restrict__ doubled,  // bf16[n], x + x
    int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  scaled[i] = __float2bfloat16(__bfloat162float(x[i]) * scale[i]);
  doubled[i] = __hadd(x[i], x[i]);
}
