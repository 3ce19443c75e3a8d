// blur.cu: a 5 x 5 binomial filter on 8-bit images, whose border goes on outside. Rows
// are summed into shared memory, then columns. Blocks have 32 x 8 threads.

__device__ int clamped(int i, int n) { return min(max(i, 0), n - 1); }

template <typename T>
__device__ int weighted(T a, T b, T c, T d, T e) {
  return a + 4 * b + 6 * c + 4 * d + e;
}

extern "C" __global__ void blur(
    const unsigned char* __restrict__ x,  // u8[planes, h, w]
    unsigned char* __restrict__ out,      // u8[planes, h, w]
    int h, int w) {
  constexpr int kColumns = 32, kRows = 8, kMargin = 2;
  __shared__ unsigned short rows[kRows + 2 * kMargin][kColumns];
  int column = blockIdx.x * kColumns + threadIdx.x;
  int row = blockIdx.y * kRows + threadIdx.y;
  size_t plane = (size_t)blockIdx.z * h * w;
  for (int r = threadIdx.y; r < kRows + 2 * kMargin; r += kRows) {
    int y = clamped((int)blockIdx.y * kRows + r - kMargin, h);
    const unsigned char* line = x + plane + (size_t)y * w;
    rows[r][threadIdx.x] =
        weighted(line[clamped(column - 2, w)], line[clamped(column - 1, w)],
                 line[clamped(column, w)], line[clamped(column + 1, w)],
                 line[clamped(column + 2, w)]);
  }
  __syncthreads();
  if (row >= h || column >= w) return;
  int t = threadIdx.x, r = threadIdx.y;
  int sum = weighted(rows[r][t], rows[r + 1][t], rows[r + 2][t], rows[r + 3][t],
                     rows[r + 4][t]);
  out[plane + (size_t)row * w + column] = (sum + 128) / 256;
}
