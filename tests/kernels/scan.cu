// scan.cu: inclusive scan of each row by one block, which walks the row in chunks of
// its own size and carries the running total. The block size is a multiple of 32.

template <typename T>
__global__ void inclusive_scan(const T* __restrict__ x,  // T[rows, cols]
                               T* __restrict__ out,      // T[rows, cols]
                               int cols) {
  __shared__ T warps[32];
  int lane = threadIdx.x % 32;
  int warp = threadIdx.x / 32;
  size_t base = (size_t)blockIdx.x * cols;
  T carry = T(0);
  for (int first = 0; first < cols; first += blockDim.x) {
    int i = first + threadIdx.x;
    T value = i < cols ? x[base + i] : T(0);
    for (int offset = 1; offset < 32; offset *= 2) {
      T left = __shfl_up_sync(0xffffffffu, value, offset);
      if (lane >= offset) value += left;
    }
    if (lane == 31) warps[warp] = value;
    __syncthreads();
    T before = carry;
    for (int w = 0; w < warp; w++) before += warps[w];
    if (i < cols) out[base + i] = before + value;
    for (int w = 0; w < blockDim.x / 32; w++) carry += warps[w];
    __syncthreads();
  }
}
