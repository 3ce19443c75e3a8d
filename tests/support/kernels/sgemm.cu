// sgemm.cu: c = a @ b; a thread computes a small block of c in registers, and all
// memory moves four floats at a time. n and k are multiples of four.

template <int TileM, int TileN, int TileK, int M, int N>
__global__ void sgemm(const float* __restrict__ a,  // f32[m, k]
                      const float* __restrict__ b,  // f32[k, n]
                      float* __restrict__ c,        // f32[m, n]
                      int m, int n, int k) {
  constexpr int kThreads = (TileM / M) * (TileN / N);
  __shared__ float tile_a[TileK][TileM];  // transposed
  __shared__ __align__(16) float tile_b[TileK][TileN];
  const float4 zeros = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  int first_row = blockIdx.y * TileM, first_column = blockIdx.x * TileN;
  int y = threadIdx.x / (TileN / N) * M, x = threadIdx.x % (TileN / N) * N;
  float sums[M][N] = {}, left[M], right[N];
  for (int first = 0; first < k; first += TileK) {
    for (int i = threadIdx.x; i < TileM * TileK / 4; i += kThreads) {
      int row = i / (TileK / 4), column = i % (TileK / 4) * 4;
      bool inside = first_row + row < m && first + column < k;
      const float* from = a + (size_t)(first_row + row) * k + first + column;
      float4 four = inside ? *reinterpret_cast<const float4*>(from) : zeros;
      tile_a[column][row] = four.x;
      tile_a[column + 1][row] = four.y;
      tile_a[column + 2][row] = four.z;
      tile_a[column + 3][row] = four.w;
    }
    for (int i = threadIdx.x; i < TileK * TileN / 4; i += kThreads) {
      int row = i / (TileN / 4), column = i % (TileN / 4) * 4;
      bool inside = first + row < k && first_column + column < n;
      const float* from = b + (size_t)(first + row) * n + first_column + column;
      *reinterpret_cast<float4*>(&tile_b[row][column]) =
          inside ? *reinterpret_cast<const float4*>(from) : zeros;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TileK; i++) {
#pragma unroll
      for (int r = 0; r < M; r++) left[r] = tile_a[i][y + r];
#pragma unroll
      for (int s = 0; s < N; s++) right[s] = tile_b[i][x + s];
#pragma unroll
      for (int r = 0; r < M; r++) {
#pragma unroll
        for (int s = 0; s < N; s++) sums[r][s] += left[r] * right[s];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < M; r++) {
#pragma unroll
    for (int s = 0; s < N; s += 4) {
      int row = first_row + y + r, column = first_column + x + s;
      if (row >= m || column >= n) continue;
      *reinterpret_cast<float4*>(c + (size_t)row * n + column) =
          make_float4(sums[r][s], sums[r][s + 1], sums[r][s + 2], sums[r][s + 3]);
    }
  }
}
