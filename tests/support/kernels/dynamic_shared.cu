// dynamic_shared.cu: reverses each row through dynamic shared memory, one block per
// row.

extern "C" __global__ void reverse_rows(const float* __restrict__ x,  // f32[rows, cols]
                                        float* __restrict__ out,      // f32[rows, cols]
                                        int cols) {
  extern __shared__ float row[];  // f32[cols]
  size_t base = (size_t)blockIdx.x * cols;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) row[i] = x[base + i];
  __syncthreads();
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    out[base + i] = row[cols - 1 - i];
  }
}
