// rows.cu: softmax and layer norm over rows, one block per row. The block size is a
// multiple of 32.

struct Sum {
  static constexpr float kIdentity = 0.0f;
  __device__ static float combine(float a, float b) { return a + b; }
};

struct Max {
  static constexpr float kIdentity = -3.402823466e38f;
  __device__ static float combine(float a, float b) { return fmaxf(a, b); }
};

// Every thread of the block receives the reduced value.
template <typename Op>
__device__ float block_reduce(float value) {
  __shared__ float warps[32];
  for (int offset = 16; offset > 0; offset /= 2) {
    value = Op::combine(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  __syncthreads();  // the previous call's readers are done with `warps`
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = Op::kIdentity;
  for (int w = 0; w < blockDim.x / 32; w++) value = Op::combine(value, warps[w]);
  return value;
}

extern "C" __global__ void softmax(const float* __restrict__ x,  // f32[rows, cols]
                                   float* __restrict__ out,      // f32[rows, cols]
                                   int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float top = Max::kIdentity;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) top = fmaxf(top, row[i]);
  top = block_reduce<Max>(top);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += expf(row[i] - top);
  sum = block_reduce<Sum>(sum);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    out[(size_t)blockIdx.x * cols + i] = expf(row[i] - top) / sum;
  }
}

extern "C" __global__ void layernorm(const float* __restrict__ x,  // f32[rows, cols]
                                     const float* __restrict__ scale,  // f32[cols]
                                     const float* __restrict__ shift,  // f32[cols]
                                     float* __restrict__ out,  // f32[rows, cols]
                                     int cols, float epsilon) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += row[i];
  float mean = block_reduce<Sum>(sum) / cols;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    squares += (row[i] - mean) * (row[i] - mean);
  }
  float inverse = rsqrtf(block_reduce<Sum>(squares) / cols + epsilon);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    float normal = (row[i] - mean) * inverse;
    out[(size_t)blockIdx.x * cols + i] = normal * scale[i] + shift[i];
  }
}
