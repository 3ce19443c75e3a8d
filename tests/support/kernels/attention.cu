// attention.cu: softmax(scale * q k^T) v without the matrix of scores. A thread walks
// the keys of its query with a running maximum; a block shares tiles of keys and
// values.

template <int Tile, int Dim>
__global__ void attention(const float* __restrict__ q,  // f32[heads, n, Dim]
                          const float* __restrict__ k,  // f32[heads, n, Dim]
                          const float* __restrict__ v,  // f32[heads, n, Dim]
                          float* __restrict__ out,      // f32[heads, n, Dim]
                          int n, float scale, bool causal) {
  __shared__ float keys[Tile][Dim], values[Tile][Dim];
  size_t head = (size_t)blockIdx.y * n * Dim;
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float query[Dim], sums[Dim], top = -3.402823466e38f, weight = 0.0f;
#pragma unroll
  for (int d = 0; d < Dim; d++) {
    query[d] = row < n ? scale * q[head + (size_t)row * Dim + d] : 0.0f;
    sums[d] = 0.0f;
  }
  // Later keys are of no interest to any query of this block.
  int end = causal ? min(n, (int)((blockIdx.x + 1) * blockDim.x)) : n;
  for (int first = 0; first < end; first += Tile) {
    for (int i = threadIdx.x; i < Tile * Dim; i += blockDim.x) {
      bool inside = first + i / Dim < n;
      size_t at = head + (size_t)first * Dim + i;
      keys[i / Dim][i % Dim] = inside ? k[at] : 0.0f;
      values[i / Dim][i % Dim] = inside ? v[at] : 0.0f;
    }
    __syncthreads();
    for (int j = 0; j < Tile && first + j < n; j++) {
      if (causal && first + j > row) break;
      float score = 0.0f;
#pragma unroll
      for (int d = 0; d < Dim; d++) score += query[d] * keys[j][d];
      float higher = fmaxf(top, score);
      float kept = expf(top - higher), added = expf(score - higher);
      weight = weight * kept + added;
      top = higher;
#pragma unroll
      for (int d = 0; d < Dim; d++) sums[d] = sums[d] * kept + added * values[j][d];
    }
    __syncthreads();
  }
  if (row >= n) return;
#pragma unroll
  for (int d = 0; d < Dim; d++) out[head + (size_t)row * Dim + d] = sums[d] / weight;
}
