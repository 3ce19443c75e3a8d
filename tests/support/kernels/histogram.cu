// histogram.cu: weighted histograms with global atomics and a counting one with a
// shared-memory copy per block.

template <typename T>
__global__ void weighted(const int* __restrict__ bin,   // i32[n], each in [0, bins)
                         const T* __restrict__ weight,  // T[n]
                         T* total,                      // T[bins], added to
                         int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&total[bin[i]], weight[i]);
}

extern "C" __global__ void count(
    const int* __restrict__ bin,  // i32[n], each in [0, 64)
    int* total,                   // i32[64], added to
    int n) {
  __shared__ int local[64];
  for (int b = threadIdx.x; b < 64; b += blockDim.x) local[b] = 0;
  __syncthreads();
  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    atomicAdd(&local[bin[i]], 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 64; b += blockDim.x) atomicAdd(&total[b], local[b]);
}
