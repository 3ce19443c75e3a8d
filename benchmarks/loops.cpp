// loops.cpp: the computations of cpu.py as plain loops, for a C++ compiler with OpenMP.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

extern "C" {

void axpy(const float* x, const float* y, float a, float* out, long n) {
#pragma omp parallel for simd
  for (long i = 0; i < n; i++) out[i] = a * x[i] + y[i];
}

void heat(const float* u, float rate, float* out, long d, long h, long w) {
#pragma omp parallel for
  for (long z = 0; z < d; z++) {
    for (long y = 0; y < h; y++) {
      const float* row = u + (z * h + y) * w;
      float* to = out + (z * h + y) * w;
      if (z == 0 || z == d - 1 || y == 0 || y == h - 1) {
        std::copy(row, row + w, to);
        continue;
      }
      to[0] = row[0];
      to[w - 1] = row[w - 1];
#pragma omp simd
      for (long x = 1; x < w - 1; x++) {
        float around = ((row[x - 1] + row[x + 1]) + (row[x - w] + row[x + w])) +
                       (row[x - h * w] + row[x + h * w]);
        to[x] = row[x] + rate * (around - 6 * row[x]);
      }
    }
  }
}

void sum(const float* x, float* out, long n) {
  float total = 0;
#pragma omp parallel for simd reduction(+ : total)
  for (long i = 0; i < n; i++) total += x[i];
  *out = total;
}

void matmul(const float* a, const float* b, float* c, long m, long n, long k) {
#pragma omp parallel for
  for (long row = 0; row < m; row++) {
    std::fill_n(c + row * n, n, 0.0f);
    for (long j = 0; j < k; j++) {
      float scale = a[row * k + j];
#pragma omp simd
      for (long column = 0; column < n; column++) {
        c[row * n + column] += scale * b[j * n + column];
      }
    }
  }
}

void softmax(const float* x, float* out, long rows, long cols) {
#pragma omp parallel for
  for (long row = 0; row < rows; row++) {
    const float* from = x + row * cols;
    float* to = out + row * cols;
    float top = *std::max_element(from, from + cols);
    float total = 0;
#pragma omp simd reduction(+ : total)
    for (long i = 0; i < cols; i++) {
      to[i] = std::exp(from[i] - top);
      total += to[i];
    }
#pragma omp simd
    for (long i = 0; i < cols; i++) to[i] /= total;
  }
}
}
