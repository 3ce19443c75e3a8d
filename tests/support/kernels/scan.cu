// scan.cu: scans of each row by one block, which walks the row in chunks and carries
// the running total.

// By shuffles; a chunk is as long as the block, which is a multiple of 32.
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

// By a tree of partial sums, up and down again (Blelloch). The block has Chunk / 2
// threads.
template <typename T, int Chunk>
__global__ void exclusive_scan(const T* __restrict__ x,  // T[rows, cols]
                               T* __restrict__ out,      // T[rows, cols]
                               int cols) {
  __shared__ T tree[Chunk];
  size_t base = (size_t)blockIdx.x * cols;
  T carry = T(0);
  for (int first = 0; first < cols; first += Chunk) {
    for (int i = threadIdx.x; i < Chunk; i += blockDim.x) {
      tree[i] = first + i < cols ? x[base + first + i] : T(0);
    }
    for (int step = 1; step < Chunk; step *= 2) {
      __syncthreads();
      int right = (threadIdx.x + 1) * 2 * step - 1;
      if (right < Chunk) tree[right] += tree[right - step];
    }
    __syncthreads();
    T total = tree[Chunk - 1];
    __syncthreads();
    if (threadIdx.x == 0) tree[Chunk - 1] = carry;
    for (int step = Chunk / 2; step > 0; step /= 2) {
      __syncthreads();
      int right = (threadIdx.x + 1) * 2 * step - 1;
      if (right >= Chunk) continue;
      T left = tree[right - step];
      tree[right - step] = tree[right];
      tree[right] += left;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < Chunk && first + i < cols; i += blockDim.x) {
      out[base + first + i] = tree[i];
    }
    carry += total;
    __syncthreads();
  }
}
