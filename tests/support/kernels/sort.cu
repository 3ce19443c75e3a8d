// sort.cu: bitonic sort of each row by one block, in shared memory. Every comparison
// puts the smaller value in front, so that what is missing from a power of two counts
// as larger than all.

template <typename T>
__global__ void sort_rows(const T* __restrict__ x,  // T[rows, cols]
                          T* __restrict__ out,      // T[rows, cols]
                          int cols) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T* row = reinterpret_cast<T*>(bytes);
  size_t base = (size_t)blockIdx.x * cols;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) row[i] = x[base + i];
  for (int size = 2; size / 2 < cols; size *= 2) {
    // The first step mirrors a run on its neighbour; the others halve the distance.
    for (int mask = size - 1, next = size / 4; mask > 0; mask = next, next /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        int partner = i ^ mask;
        if (partner <= i || partner >= cols) continue;
        T low = row[i], high = row[partner];
        if (high < low) {
          row[i] = high;
          row[partner] = low;
        }
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < cols; i += blockDim.x) out[base + i] = row[i];
}
