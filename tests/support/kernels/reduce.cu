// reduce.cu: sums by a shared-memory tree, by warp shuffles, and with the block size as
// a template parameter.

// Every block leaves one partial sum. The block size is a power of two, at most 256.
extern "C" __global__ void block_sum(const float* __restrict__ x,   // f32[n]
                                     float* __restrict__ partials,  // f32[blocks]
                                     int n) {
  __shared__ float scratch[256];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  scratch[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) scratch[t] += scratch[t + half];
    __syncthreads();
  }
  if (t == 0) partials[blockIdx.x] = scratch[0];
}

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, offset);
  }
  return value;
}

// Adds the sum of x to total[0]. The block size is a multiple of 32.
extern "C" __global__ void shuffle_sum(const float* __restrict__ x,  // f32[n]
                                       float* total,                 // f32[1]
                                       int n) {
  __shared__ float warps[32];
  int lane = threadIdx.x % 32;
  int warp = threadIdx.x / 32;
  float value = 0.0f;
  long long stride = (long long)gridDim.x * blockDim.x;
  long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (long long i = first; i < n; i += stride) value += x[i];
  value = warp_sum(value);
  if (lane == 0) warps[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = lane < blockDim.x / 32 ? warps[lane] : 0.0f;
    value = warp_sum(value);
    if (lane == 0) atomicAdd(total, value);
  }
}

template <typename T, int B>
__global__ void sum_template(const T* __restrict__ x,   // T[n]
                             T* __restrict__ partials,  // T[blocks]
                             int n) {
  static_assert((B & (B - 1)) == 0, "the block size is a power of two");
  __shared__ T scratch[B];
  int i = blockIdx.x * B + threadIdx.x;
  scratch[threadIdx.x] = i < n ? x[i] : T(0);
  __syncthreads();
#pragma unroll
  for (int half = B / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partials[blockIdx.x] = scratch[0];
}
