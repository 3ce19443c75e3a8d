// f32.h: single precision functions. Those declared `extern` are the host's libm.
#pragma once
#pragma clang system_header
#include "jrc/device/qualifiers.h"
#include "jrc/math/nvvm.h"

#define __JRC_LIBM_F1(F) __JRC_LIBM float F(float);
#define __JRC_LIBM_F2(F) __JRC_LIBM float F(float, float);
__JRC_LIBM_F1(acosf)
__JRC_LIBM_F1(acoshf)
__JRC_LIBM_F1(asinf)
__JRC_LIBM_F1(asinhf)
__JRC_LIBM_F1(atanf)
__JRC_LIBM_F1(atanhf)
__JRC_LIBM_F1(cbrtf)
__JRC_LIBM_F1(cosf)
__JRC_LIBM_F1(coshf)
__JRC_LIBM_F1(erff)
__JRC_LIBM_F1(erfcf)
__JRC_LIBM_F1(expf)
__JRC_LIBM_F1(exp2f)
__JRC_LIBM_F1(expm1f)
__JRC_LIBM_F1(lgammaf)
__JRC_LIBM_F1(logf)
__JRC_LIBM_F1(log10f)
__JRC_LIBM_F1(log1pf)
__JRC_LIBM_F1(log2f)
__JRC_LIBM_F1(logbf)
__JRC_LIBM_F1(sinf)
__JRC_LIBM_F1(sinhf)
__JRC_LIBM_F1(tanf)
__JRC_LIBM_F1(tanhf)
__JRC_LIBM_F1(tgammaf)
__JRC_LIBM_F2(atan2f)
__JRC_LIBM_F2(fmodf)
__JRC_LIBM_F2(hypotf)
__JRC_LIBM_F2(nextafterf)
__JRC_LIBM_F2(powf)
__JRC_LIBM_F2(remainderf)
__JRC_LIBM float ldexpf(float, int);
__JRC_LIBM int ilogbf(float);
#undef __JRC_LIBM_F1
#undef __JRC_LIBM_F2

__JRC_FN float fabsf(float x) { return __builtin_fabsf(x); }
__JRC_FN float copysignf(float x, float y) { return __builtin_copysignf(x, y); }
__JRC_FN float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__JRC_FN float fmaxf(float x, float y) { return __builtin_fmaxf(x, y); }
__JRC_FN float fminf(float x, float y) { return __builtin_fminf(x, y); }
__JRC_FN float fdimf(float x, float y) { return x <= y ? 0.0f : x - y; }
__JRC_FN float fdividef(float x, float y) { return x / y; }
__JRC_FN float sqrtf(float x) { return __JRC_NVVM(sqrt_rn)(x); }
__JRC_FN float rsqrtf(float x) { return __JRC_NVVM(rsqrt_approx)(x); }
__JRC_FN float rcbrtf(float x) { return 1.0f / cbrtf(x); }

__JRC_FN float ceilf(float x) { return __builtin_ceilf(x); }
__JRC_FN float floorf(float x) { return __builtin_floorf(x); }
__JRC_FN float truncf(float x) { return __builtin_truncf(x); }
__JRC_FN float rintf(float x) { return __builtin_rintf(x); }
__JRC_FN float nearbyintf(float x) { return __builtin_rintf(x); }
__JRC_FN float roundf(float x) {
  float t = truncf(x);
  return fabsf(x - t) < 0.5f ? t : t + copysignf(1.0f, x);
}
__JRC_FN long int lrintf(float x) { return __nvvm_f2ll_rn(x); }
__JRC_FN long long int llrintf(float x) { return __nvvm_f2ll_rn(x); }
__JRC_FN long int lroundf(float x) { return __nvvm_f2ll_rz(roundf(x)); }
__JRC_FN long long int llroundf(float x) { return __nvvm_f2ll_rz(roundf(x)); }

__JRC_FN float nanf(const char*) { return __builtin_nanf(""); }
__JRC_FN float scalbnf(float x, int n) { return ldexpf(x, n); }
__JRC_FN float scalblnf(float x, long int n) {
  return ldexpf(x, n > 9999 ? 9999 : n < -9999 ? -9999 : (int)n);
}
__JRC_FN float modff(float x, float* integer) {
  *integer = truncf(x);
  return x == *integer ? copysignf(0.0f, x) : x - *integer;
}
__JRC_FN float frexpf(float x, int* exponent) {
  if (x == 0.0f || !__builtin_isfinite(x)) {
    *exponent = 0;
    return x + x;
  }
  *exponent = ilogbf(x) + 1;
  return ldexpf(x, -*exponent);
}
__JRC_FN float remquof(float x, float y, int* quotient) {
  float r = remainderf(x, y);
  // fmod by 8y keeps the quotient's low three bits and cannot overflow for the y that
  // matter; larger ones give a quotient of at most 1.
  float m = fabsf(y) < 1e37f ? fmodf(x, 8.0f * y) : x;
  *quotient = __nvvm_f2i_rn((m - r) / y);
  return r;
}

__JRC_FN void sincosf(float x, float* sine, float* cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}
