// f64.h: double precision functions. Those declared `extern` are the host's libm.
#pragma once
#pragma clang system_header
#include "jrc/device/qualifiers.h"
#include "jrc/math/nvvm.h"

#define __JRC_LIBM_D1(F) __JRC_LIBM double F(double);
#define __JRC_LIBM_D2(F) __JRC_LIBM double F(double, double);
__JRC_LIBM_D1(acos)
__JRC_LIBM_D1(acosh)
__JRC_LIBM_D1(asin)
__JRC_LIBM_D1(asinh)
__JRC_LIBM_D1(atan)
__JRC_LIBM_D1(atanh)
__JRC_LIBM_D1(cos)
__JRC_LIBM_D1(cosh)
__JRC_LIBM_D1(erf)
__JRC_LIBM_D1(erfc)
__JRC_LIBM_D1(exp)
__JRC_LIBM_D1(exp2)
__JRC_LIBM_D1(expm1)
__JRC_LIBM_D1(j0)
__JRC_LIBM_D1(j1)
__JRC_LIBM_D1(lgamma)
__JRC_LIBM_D1(log)
__JRC_LIBM_D1(log10)
__JRC_LIBM_D1(log1p)
__JRC_LIBM_D1(log2)
__JRC_LIBM_D1(logb)
__JRC_LIBM_D1(sin)
__JRC_LIBM_D1(sinh)
__JRC_LIBM_D1(tan)
__JRC_LIBM_D1(tanh)
__JRC_LIBM_D1(tgamma)
__JRC_LIBM_D1(y0)
__JRC_LIBM_D1(y1)
__JRC_LIBM_D2(atan2)
__JRC_LIBM_D2(fmod)
__JRC_LIBM_D2(hypot)
__JRC_LIBM_D2(nextafter)
__JRC_LIBM_D2(pow)
__JRC_LIBM_D2(remainder)
__JRC_LIBM double jn(int, double);
__JRC_LIBM double yn(int, double);
__JRC_LIBM double ldexp(double, int);
__JRC_LIBM int ilogb(double);
__JRC_LIBM double __jrc_cbrt(double) __asm__("cbrt");
#undef __JRC_LIBM_D1
#undef __JRC_LIBM_D2

__JRC_FN double fabs(double x) { return __builtin_fabs(x); }
__JRC_FN double copysign(double x, double y) { return __builtin_copysign(x, y); }
__JRC_FN double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
__JRC_FN double fmax(double x, double y) { return __builtin_fmax(x, y); }
__JRC_FN double fmin(double x, double y) { return __builtin_fmin(x, y); }
__JRC_FN double fdim(double x, double y) { return x <= y ? 0.0 : x - y; }
__JRC_FN double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
__JRC_FN double rsqrt(double x) { return 1.0 / sqrt(x); }
// One step of Newton's method: libm's own error is more than the device's. Scaling
// keeps the cube's error clear of the subnormals.
__JRC_FN double cbrt(double x) {
  bool tiny = fabs(x) < 0x1p-600;
  double a = tiny ? x * 0x1p300 : x;
  double r = __jrc_cbrt(a);
  if (a != 0.0 && __builtin_isfinite(a)) {
    double square = r * r;
    double error = fma(square, r, -a) + fma(r, r, -square) * r;
    r -= error / (3.0 * square);
  }
  return tiny ? r * 0x1p-100 : r;
}
__JRC_FN double rcbrt(double x) { return 1.0 / cbrt(x); }

__JRC_FN double ceil(double x) { return __builtin_ceil(x); }
__JRC_FN double floor(double x) { return __builtin_floor(x); }
__JRC_FN double trunc(double x) { return __builtin_trunc(x); }
__JRC_FN double rint(double x) { return __builtin_rint(x); }
__JRC_FN double nearbyint(double x) { return __builtin_rint(x); }
__JRC_FN double round(double x) {
  double t = trunc(x);
  return fabs(x - t) < 0.5 ? t : t + copysign(1.0, x);
}
__JRC_FN long int lrint(double x) { return __nvvm_d2ll_rn(x); }
__JRC_FN long long int llrint(double x) { return __nvvm_d2ll_rn(x); }
__JRC_FN long int lround(double x) { return __nvvm_d2ll_rz(round(x)); }
__JRC_FN long long int llround(double x) { return __nvvm_d2ll_rz(round(x)); }

__JRC_FN double nan(const char*) { return __builtin_nan(""); }
__JRC_FN double scalbn(double x, int n) { return ldexp(x, n); }
__JRC_FN double scalbln(double x, long int n) {
  return ldexp(x, n > 9999 ? 9999 : n < -9999 ? -9999 : (int)n);
}
__JRC_FN double modf(double x, double* integer) {
  *integer = trunc(x);
  return x == *integer ? copysign(0.0, x) : x - *integer;
}
__JRC_FN double frexp(double x, int* exponent) {
  if (x == 0.0 || !__builtin_isfinite(x)) {
    *exponent = 0;
    return x + x;
  }
  *exponent = ilogb(x) + 1;
  return ldexp(x, -*exponent);
}
__JRC_FN double remquo(double x, double y, int* quotient) {
  double r = remainder(x, y);
  double m = fabs(y) < 1e307 ? fmod(x, 8.0 * y) : x;
  *quotient = __nvvm_d2i_rn((m - r) / y);
  return r;
}

__JRC_FN void sincos(double x, double* sine, double* cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}
