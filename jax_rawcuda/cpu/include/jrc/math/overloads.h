// overloads.h: min, max, abs and the C++ overloads, global and in std.
#pragma once
#pragma clang system_header
#include "jrc/device/qualifiers.h"
#include "jrc/math/f32.h"
#include "jrc/math/f64.h"
#include "jrc/math/special.h"

#define __JRC_MIN_MAX(T)                                       \
  __JRC_FN constexpr T min(T a, T b) { return b < a ? b : a; } \
  __JRC_FN constexpr T max(T a, T b) { return a < b ? b : a; }
__JRC_MIN_MAX(int)
__JRC_MIN_MAX(unsigned int)
__JRC_MIN_MAX(long)
__JRC_MIN_MAX(unsigned long)
__JRC_MIN_MAX(long long)
__JRC_MIN_MAX(unsigned long long)
#undef __JRC_MIN_MAX
// Mixed signs compare as unsigned, mixed precisions as double.
#define __JRC_MIXED_MIN_MAX(S, U)                             \
  __JRC_FN constexpr U min(S a, U b) { return min((U)a, b); } \
  __JRC_FN constexpr U min(U a, S b) { return min(a, (U)b); } \
  __JRC_FN constexpr U max(S a, U b) { return max((U)a, b); } \
  __JRC_FN constexpr U max(U a, S b) { return max(a, (U)b); }
__JRC_MIXED_MIN_MAX(int, unsigned int)
__JRC_MIXED_MIN_MAX(long, unsigned long)
__JRC_MIXED_MIN_MAX(long long, unsigned long long)
__JRC_FN float min(float a, float b) { return fminf(a, b); }
__JRC_FN float max(float a, float b) { return fmaxf(a, b); }
__JRC_FN double min(double a, double b) { return fmin(a, b); }
__JRC_FN double max(double a, double b) { return fmax(a, b); }
__JRC_MIXED_MIN_MAX(float, double)
#undef __JRC_MIXED_MIN_MAX

__JRC_FN unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
__JRC_FN unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
__JRC_FN long long llmin(long long a, long long b) { return min(a, b); }
__JRC_FN long long llmax(long long a, long long b) { return max(a, b); }
__JRC_FN unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return min(a, b);
}
__JRC_FN unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return max(a, b);
}

extern "C" {
__JRC_FN int abs(int x) { return __builtin_abs(x); }
__JRC_FN long labs(long x) { return __builtin_labs(x); }
__JRC_FN long long llabs(long long x) { return __builtin_llabs(x); }
}
__JRC_FN long abs(long x) { return __builtin_labs(x); }
__JRC_FN long long abs(long long x) { return __builtin_llabs(x); }
__JRC_FN float abs(float x) { return fabsf(x); }
__JRC_FN double abs(double x) { return fabs(x); }

template <class T, bool = __is_integral(T)>
struct __jrc_if_integral {};
template <class T>
struct __jrc_if_integral<T, true> {
  typedef double type;
  typedef int int_type;
};

// An integer argument means double, as in <cmath>.
#define __JRC_OVERLOAD_1(F)                             \
  __JRC_FN float F(float x) { return F##f(x); }         \
  template <class T>                                    \
  __JRC_FN typename __jrc_if_integral<T>::type F(T x) { \
    return F((double)x);                                \
  }
#define __JRC_OVERLOAD_2(F)                                        \
  __JRC_FN float F(float x, float y) { return F##f(x, y); }        \
  __JRC_FN double F(float x, double y) { return F((double)x, y); } \
  __JRC_FN double F(double x, float y) { return F(x, (double)y); } \
  template <class T>                                               \
  __JRC_FN typename __jrc_if_integral<T>::type F(T x, double y) {  \
    return F((double)x, y);                                        \
  }                                                                \
  template <class T>                                               \
  __JRC_FN typename __jrc_if_integral<T>::type F(double x, T y) {  \
    return F(x, (double)y);                                        \
  }                                                                \
  template <class T>                                               \
  __JRC_FN typename __jrc_if_integral<T>::type F(T x, float y) {   \
    return F((double)x, (double)y);                                \
  }                                                                \
  template <class T>                                               \
  __JRC_FN typename __jrc_if_integral<T>::type F(float x, T y) {   \
    return F((double)x, (double)y);                                \
  }                                                                \
  template <class T, class U>                                      \
  __JRC_FN decltype(typename __jrc_if_integral<T>::type() +        \
                    typename __jrc_if_integral<U>::type())         \
  F(T x, U y) {                                                    \
    return F((double)x, (double)y);                                \
  }
__JRC_OVERLOAD_1(acos)
__JRC_OVERLOAD_1(acosh)
__JRC_OVERLOAD_1(asin)
__JRC_OVERLOAD_1(asinh)
__JRC_OVERLOAD_1(atan)
__JRC_OVERLOAD_1(atanh)
__JRC_OVERLOAD_1(cbrt)
__JRC_OVERLOAD_1(ceil)
__JRC_OVERLOAD_1(cos)
__JRC_OVERLOAD_1(cosh)
__JRC_OVERLOAD_1(erf)
__JRC_OVERLOAD_1(erfc)
__JRC_OVERLOAD_1(exp)
__JRC_OVERLOAD_1(exp2)
__JRC_OVERLOAD_1(expm1)
__JRC_OVERLOAD_1(fabs)
__JRC_OVERLOAD_1(floor)
__JRC_OVERLOAD_1(lgamma)
__JRC_OVERLOAD_1(log)
__JRC_OVERLOAD_1(log10)
__JRC_OVERLOAD_1(log1p)
__JRC_OVERLOAD_1(log2)
__JRC_OVERLOAD_1(logb)
__JRC_OVERLOAD_1(nearbyint)
__JRC_OVERLOAD_1(rint)
__JRC_OVERLOAD_1(round)
__JRC_OVERLOAD_1(rsqrt)
__JRC_OVERLOAD_1(sin)
__JRC_OVERLOAD_1(sinh)
__JRC_OVERLOAD_1(sqrt)
__JRC_OVERLOAD_1(tan)
__JRC_OVERLOAD_1(tanh)
__JRC_OVERLOAD_1(tgamma)
__JRC_OVERLOAD_1(trunc)
__JRC_OVERLOAD_2(atan2)
__JRC_OVERLOAD_2(copysign)
__JRC_OVERLOAD_2(fdim)
__JRC_OVERLOAD_2(fmax)
__JRC_OVERLOAD_2(fmin)
__JRC_OVERLOAD_2(fmod)
__JRC_OVERLOAD_2(hypot)
__JRC_OVERLOAD_2(nextafter)
__JRC_OVERLOAD_2(remainder)
__JRC_OVERLOAD_2(pow)
#undef __JRC_OVERLOAD_1
#undef __JRC_OVERLOAD_2

#define __JRC_SPECIAL_OVERLOAD(F) \
  __JRC_FN float F(float x) { return F##f(x); }
__JRC_SPECIAL_OVERLOAD(cospi)
__JRC_SPECIAL_OVERLOAD(cyl_bessel_i0)
__JRC_SPECIAL_OVERLOAD(cyl_bessel_i1)
__JRC_SPECIAL_OVERLOAD(erfcinv)
__JRC_SPECIAL_OVERLOAD(erfcx)
__JRC_SPECIAL_OVERLOAD(erfinv)
__JRC_SPECIAL_OVERLOAD(exp10)
__JRC_SPECIAL_OVERLOAD(j0)
__JRC_SPECIAL_OVERLOAD(j1)
__JRC_SPECIAL_OVERLOAD(normcdf)
__JRC_SPECIAL_OVERLOAD(normcdfinv)
__JRC_SPECIAL_OVERLOAD(rcbrt)
__JRC_SPECIAL_OVERLOAD(sinpi)
__JRC_SPECIAL_OVERLOAD(y0)
__JRC_SPECIAL_OVERLOAD(y1)
#undef __JRC_SPECIAL_OVERLOAD
__JRC_FN float rhypot(float a, float b) { return rhypotf(a, b); }
__JRC_FN void sincos(float x, float* s, float* c) { sincosf(x, s, c); }
__JRC_FN void sincospi(float x, float* s, float* c) { sincospif(x, s, c); }

__JRC_FN float fma(float x, float y, float z) { return fmaf(x, y, z); }
__JRC_FN float frexp(float x, int* exponent) { return frexpf(x, exponent); }
__JRC_FN float ldexp(float x, int n) { return ldexpf(x, n); }
__JRC_FN float scalbn(float x, int n) { return ldexpf(x, n); }
__JRC_FN float scalbln(float x, long n) { return scalblnf(x, n); }
__JRC_FN float modf(float x, float* integer) { return modff(x, integer); }
__JRC_FN float remquo(float x, float y, int* q) { return remquof(x, y, q); }
__JRC_FN int ilogb(float x) { return ilogbf(x); }
__JRC_FN long lrint(float x) { return lrintf(x); }
__JRC_FN long lround(float x) { return lroundf(x); }
__JRC_FN long long llrint(float x) { return llrintf(x); }
__JRC_FN long long llround(float x) { return llroundf(x); }

#define __JRC_CLASSIFY(F)                                                   \
  __JRC_FN bool F(float x) { return __builtin_##F(x); }                     \
  __JRC_FN bool F(double x) { return __builtin_##F(x); }                    \
  template <class T>                                                        \
  __JRC_FN decltype(typename __jrc_if_integral<T>::type(), bool()) F(T x) { \
    return __builtin_##F((double)x);                                        \
  }
__JRC_CLASSIFY(isfinite)
__JRC_CLASSIFY(isinf)
__JRC_CLASSIFY(isnan)
__JRC_CLASSIFY(signbit)
#undef __JRC_CLASSIFY
