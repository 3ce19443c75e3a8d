// special.h: functions of CUDA's that libm lacks, built from those it has.
#pragma once
#pragma clang system_header
#include "jrc/math/f32.h"
#include "jrc/math/f64.h"

// Sine and cosine of pi x: the argument is reduced exactly before pi comes in.
__JRC_FN double __jrc_sincospi(double x, int quarter_turns) {
  double r = x - 2.0 * rint(x * 0.5);
  double n = rint(2.0 * r);
  double angle = (r - 0.5 * n) * 3.141592653589793;
  int quadrant = ((int)n + quarter_turns) & 3;
  double value = quadrant & 1 ? cos(angle) : sin(angle);
  return quadrant & 2 ? -value : value;
}
__JRC_FN double sinpi(double x) { return __jrc_sincospi(x, 0); }
__JRC_FN double cospi(double x) { return __jrc_sincospi(x, 1); }
__JRC_FN void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
__JRC_FN double exp10(double x) { return pow(10.0, x); }

__JRC_FN double normcdf(double x) { return 0.5 * erfc(x * -0.7071067811865476); }
__device__ inline double erfcx(double x) {
  if (x < 25.0) {
    double square = x * x, rest = fma(x, x, -square);
    return exp(square) * (1.0 + rest) * erfc(x);
  }
  double q = 1.0 / (x * x);
  double series = 1.875 - q * (6.5625 - q * 29.53125);
  return 0.5641895835477563 / x * (1.0 - q * (0.5 - q * (0.75 - q * series)));
}

// Inverse of erfc for z in (0, 2): Halley's iteration on log-scaled differences.
__device__ inline double erfcinv(double z) {
  if (!(z >= 0.0 && z <= 2.0)) return __builtin_nan("");
  if (z == 0.0) return __builtin_inf();
  if (z == 2.0) return -__builtin_inf();
  double tail = z < 1.0 ? z : 2.0 - z;
  double t = sqrt(-2.0 * log(0.5 * tail));
  double x = 0.7071067811865476 *
             (t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                      (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
  for (int i = 0; i < 3; ++i) {
    double error = (erfc(x) - tail) * (exp(x * x) * 0.886226925452758);
    x += error / (1.0 + x * error);
  }
  return z < 1.0 ? x : -x;
}
__device__ inline double erfinv(double y) {
  if (fabs(y) > 0.5) return y > 0.0 ? erfcinv(1.0 - y) : -erfcinv(1.0 + y);
  double x = y * (0.886226925452758 + y * y * 0.2320136665346545);
  for (int i = 0; i < 3; ++i) {
    double error = (erf(x) - y) * (exp(x * x) * 0.886226925452758);
    x -= error / (1.0 + x * error);
  }
  return x;
}
__device__ inline double normcdfinv(double p) {
  return -1.4142135623730951 * erfcinv(2.0 * p);
}

// The power series of I0 and I1 have positive terms only, so they lose no digits.
__device__ inline double __jrc_bessel_i(double x, int order) {
  double half = 0.5 * x, q = half * half;
  double term = order ? half : 1.0, sum = term;
  for (int k = 1; k < 2000; ++k) {
    term *= q / ((double)k * (k + order));
    sum += term;
    if (fabs(term) <= 1e-17 * fabs(sum)) break;
  }
  return sum;
}
__device__ inline double cyl_bessel_i0(double x) { return __jrc_bessel_i(x, 0); }
__device__ inline double cyl_bessel_i1(double x) { return __jrc_bessel_i(x, 1); }

__JRC_FN double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
__JRC_FN double norm3d(double a, double b, double c) { return hypot(hypot(a, b), c); }
__JRC_FN double norm4d(double a, double b, double c, double d) {
  return hypot(hypot(a, b), hypot(c, d));
}
__JRC_FN double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
__JRC_FN double rnorm4d(double a, double b, double c, double d) {
  return 1.0 / norm4d(a, b, c, d);
}
__JRC_FN double norm(int n, const double* p) {
  double r = 0.0;
  for (int i = 0; i < n; ++i) r = hypot(r, p[i]);
  return r;
}
__JRC_FN double rnorm(int n, const double* p) { return 1.0 / norm(n, p); }

// In single precision, double arithmetic leaves only the last rounding.
__JRC_FN float sinpif(float x) { return sinpi((double)x); }
__JRC_FN float cospif(float x) { return cospi((double)x); }
__JRC_FN void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
__JRC_FN float exp10f(float x) { return pow(10.0, (double)x); }
__JRC_FN float normcdff(float x) { return normcdf((double)x); }
__JRC_FN float normcdfinvf(float x) { return normcdfinv((double)x); }
__JRC_FN float erfcxf(float x) { return erfcx((double)x); }
__JRC_FN float erfinvf(float x) { return erfinv((double)x); }
__JRC_FN float erfcinvf(float x) { return erfcinv((double)x); }
__JRC_FN float cyl_bessel_i0f(float x) { return cyl_bessel_i0((double)x); }
__JRC_FN float cyl_bessel_i1f(float x) { return cyl_bessel_i1((double)x); }
__JRC_FN float j0f(float x) { return j0((double)x); }
__JRC_FN float j1f(float x) { return j1((double)x); }
__JRC_FN float jnf(int n, float x) { return jn(n, (double)x); }
__JRC_FN float y0f(float x) { return y0((double)x); }
__JRC_FN float y1f(float x) { return y1((double)x); }
__JRC_FN float ynf(int n, float x) { return yn(n, (double)x); }

__JRC_FN double __jrc_squares(float a, float b, float c, float d) {
  return (double)a * a + (double)b * b + (double)c * c + (double)d * d;
}
__JRC_FN float rhypotf(float a, float b) {
  return 1.0 / sqrt(__jrc_squares(a, b, 0.0f, 0.0f));
}
__JRC_FN float norm3df(float a, float b, float c) {
  return sqrt(__jrc_squares(a, b, c, 0.0f));
}
__JRC_FN float norm4df(float a, float b, float c, float d) {
  return sqrt(__jrc_squares(a, b, c, d));
}
__JRC_FN float rnorm3df(float a, float b, float c) {
  return 1.0 / sqrt(__jrc_squares(a, b, c, 0.0f));
}
__JRC_FN float rnorm4df(float a, float b, float c, float d) {
  return 1.0 / sqrt(__jrc_squares(a, b, c, d));
}
__JRC_FN float normf(int n, const float* p) {
  double r = 0.0;
  for (int i = 0; i < n; ++i) r += (double)p[i] * p[i];
  return sqrt(r);
}
__JRC_FN float rnormf(int n, const float* p) { return 1.0f / normf(n, p); }
