// mandelbrot.cu: escape times on a grid, in double precision. Products and sums are
// written with explicit roundings, so that no compiler fuses them and the counts are
// exact.

extern "C" __global__ void mandelbrot(const double* __restrict__ re,  // f64[w]
                                      const double* __restrict__ im,  // f64[h]
                                      int limit,
                                      int* __restrict__ steps,  // i32[h, w]
                                      int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  double a = 0.0;
  double b = 0.0;
  int k = 0;
  while (k < limit) {
    double aa = __dmul_rn(a, a);
    double bb = __dmul_rn(b, b);
    if (__dadd_rn(aa, bb) >= 4.0) break;
    b = __dadd_rn(__dmul_rn(__dadd_rn(a, a), b), im[y]);
    a = __dadd_rn(__dadd_rn(aa, -bb), re[x]);
    k++;
  }
  steps[(size_t)y * w + x] = k;
}
