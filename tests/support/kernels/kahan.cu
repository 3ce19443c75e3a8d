// kahan.cu: compensated summation. A compiler that reassociates floating-point
// additions breaks it.

extern "C" __global__ void kahan_rows(const double* __restrict__ x,  // f64[rows, cols]
                                      double* __restrict__ sums,     // f64[rows]
                                      int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double sum = 0.0;
  double lost = 0.0;
  for (int c = 0; c < cols; c++) {
    double term = x[(size_t)row * cols + c] - lost;
    double next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  sums[row] = sum;
}
