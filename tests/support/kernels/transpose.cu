// transpose.cu: tiled transpose through shared memory; the extra column avoids bank
// conflicts.

template <typename T>
__global__ void transpose(const T* __restrict__ x,  // T[h, w]
                          T* __restrict__ out,      // T[w, h]
                          int h, int w) {
  constexpr int kTile = 32;
  __shared__ T tile[kTile][kTile + 1];
  int column = blockIdx.x * kTile + threadIdx.x;
  int row = blockIdx.y * kTile + threadIdx.y;
  for (int k = 0; k < kTile; k += blockDim.y) {
    if (column < w && row + k < h) {
      tile[threadIdx.y + k][threadIdx.x] = x[(size_t)(row + k) * w + column];
    }
  }
  __syncthreads();
  column = blockIdx.y * kTile + threadIdx.x;
  row = blockIdx.x * kTile + threadIdx.y;
  for (int k = 0; k < kTile; k += blockDim.y) {
    if (column < h && row + k < w) {
      out[(size_t)(row + k) * h + column] = tile[threadIdx.x][threadIdx.y + k];
    }
  }
}
