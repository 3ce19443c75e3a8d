// matmul.cu: c = a @ b with 16 x 16 tiles in shared memory; any m, n, k.

extern "C" __global__ void matmul(const float* __restrict__ a,  // f32[m, k]
                                  const float* __restrict__ b,  // f32[k, n]
                                  float* __restrict__ c,        // f32[m, n]
                                  int m, int n, int k) {
  constexpr int kTile = 16;
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  int x = threadIdx.x;
  int y = threadIdx.y;
  int row = blockIdx.y * kTile + y;
  int column = blockIdx.x * kTile + x;
  float sum = 0.0f;
  for (int first = 0; first < k; first += kTile) {
    bool in_a = row < m && first + x < k;
    bool in_b = first + y < k && column < n;
    tile_a[y][x] = in_a ? a[(size_t)row * k + first + x] : 0.0f;
    tile_b[y][x] = in_b ? b[(size_t)(first + y) * n + column] : 0.0f;
    __syncthreads();
    for (int j = 0; j < kTile; j++) sum += tile_a[y][j] * tile_b[j][x];
    __syncthreads();
  }
  if (row < m && column < n) c[(size_t)row * n + column] = sum;
}
