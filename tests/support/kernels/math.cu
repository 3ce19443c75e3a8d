// math.cu: the single-precision math functions that neural networks live on.

extern "C" __global__ void math(const float* __restrict__ x,    // f32[n]
                                const float* __restrict__ y,    // f32[n], positive
                                float* __restrict__ exp_out,    // f32[n], expf(x)
                                float* __restrict__ sin_out,    // f32[n], sinf(x)
                                float* __restrict__ pow_out,    // f32[n], powf(y, x)
                                float* __restrict__ erf_out,    // f32[n], erff(x)
                                float* __restrict__ rsqrt_out,  // f32[n], rsqrtf(y)
                                int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  exp_out[i] = expf(x[i]);
  sin_out[i] = sinf(x[i]);
  pow_out[i] = powf(y[i], x[i]);
  erf_out[i] = erff(x[i]);
  rsqrt_out[i] = rsqrtf(y[i]);
}
