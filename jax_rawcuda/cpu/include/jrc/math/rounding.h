// rounding.h: arithmetic with a stated rounding, and the fast approximations.
#pragma once
#pragma clang system_header
#include "jrc/math/nvvm.h"
#include "jrc/math/overloads.h"

// Results of these are never contracted into an fma. They are instructions, since a
// pragma does not last: LLVM rewrites -(x * y) as x * -y, which may then be contracted
// like the negation.
#ifdef __JRC_FAST_MATH__
#define __JRC_F32 "ftz.f32"
#else
#define __JRC_F32 "f32"
#endif
#define __JRC_RN(P, OP, T, TYPE, R)                                   \
  __JRC_FN T __##P##OP##_rn(T x, T y) {                               \
    T result;                                                         \
    asm(#OP ".rn." TYPE " %0, %1, %2;" : "=" R(result) : R(x), R(y)); \
    return result;                                                    \
  }
__JRC_RN(f, add, float, __JRC_F32, "f")
__JRC_RN(f, sub, float, __JRC_F32, "f")
__JRC_RN(f, mul, float, __JRC_F32, "f")
__JRC_RN(d, add, double, "f64", "d")
__JRC_RN(d, sub, double, "f64", "d")
__JRC_RN(d, mul, double, "f64", "d")
#undef __JRC_RN
#undef __JRC_F32
__JRC_FN float __fdiv_rn(float x, float y) { return x / y; }
__JRC_FN double __ddiv_rn(double x, double y) { return x / y; }

#define __JRC_NVVM_D(NAME) __nvvm_##NAME##_d
#define __JRC_DIRECTED(ROUND, MODE, P, T, NVVM)                               \
  __JRC_FN T __##P##add_##ROUND(T x, T y) { return NVVM(add_##MODE)(x, y); }  \
  __JRC_FN T __##P##sub_##ROUND(T x, T y) { return NVVM(add_##MODE)(x, -y); } \
  __JRC_FN T __##P##mul_##ROUND(T x, T y) { return NVVM(mul_##MODE)(x, y); }  \
  __JRC_FN T __##P##div_##ROUND(T x, T y) { return NVVM(div_##MODE)(x, y); }
__JRC_DIRECTED(rz, rz, f, float, __JRC_NVVM)
__JRC_DIRECTED(rd, rm, f, float, __JRC_NVVM)
__JRC_DIRECTED(ru, rp, f, float, __JRC_NVVM)
__JRC_DIRECTED(rz, rz, d, double, __JRC_NVVM_D)
__JRC_DIRECTED(rd, rm, d, double, __JRC_NVVM_D)
__JRC_DIRECTED(ru, rp, d, double, __JRC_NVVM_D)
#undef __JRC_NVVM_D
#undef __JRC_DIRECTED

#define __JRC_ALL_ROUNDS(ROUND, MODE)                                            \
  __JRC_FN float __fmaf_##ROUND(float x, float y, float z) {                     \
    return __JRC_NVVM(fma_##MODE)(x, y, z);                                      \
  }                                                                              \
  __JRC_FN double __fma_##ROUND(double x, double y, double z) {                  \
    return __nvvm_fma_##MODE##_d(x, y, z);                                       \
  }                                                                              \
  __JRC_FN float __frcp_##ROUND(float x) { return __JRC_NVVM(rcp_##MODE)(x); }   \
  __JRC_FN double __drcp_##ROUND(double x) { return __nvvm_rcp_##MODE##_d(x); }  \
  __JRC_FN float __fsqrt_##ROUND(float x) { return __JRC_NVVM(sqrt_##MODE)(x); } \
  __JRC_FN double __dsqrt_##ROUND(double x) { return __nvvm_sqrt_##MODE##_d(x); }
__JRC_ALL_ROUNDS(rn, rn)
__JRC_ALL_ROUNDS(rz, rz)
__JRC_ALL_ROUNDS(rd, rm)
__JRC_ALL_ROUNDS(ru, rp)
#undef __JRC_ALL_ROUNDS
// The sum changes no number, and makes a NaN that of single precision.
__JRC_FN float __frsqrt_rn(float x) { return (float)(1.0 / sqrt((double)x)) + 0.0f; }

__JRC_FN float __saturatef(float x) { return __JRC_NVVM(saturate)(x); }
__JRC_FN float __fdividef(float x, float y) { return x / y; }
__JRC_FN float __cosf(float x) { return __JRC_NVVM(cos_approx)(x); }
__JRC_FN float __sinf(float x) { return __JRC_NVVM(sin_approx)(x); }
__JRC_FN float __tanf(float x) { return __sinf(x) / __cosf(x); }
__JRC_FN void __sincosf(float x, float* sine, float* cosine) {
  *sine = __sinf(x);
  *cosine = __cosf(x);
}
__JRC_FN float __expf(float x) {
  return __JRC_NVVM(ex2_approx)(x * 1.4426950408889634f);
}
__JRC_FN float __exp10f(float x) {
  return __JRC_NVVM(ex2_approx)(x * 3.3219280948873623f);
}
__JRC_FN float __log2f(float x) { return __JRC_NVVM(lg2_approx)(x); }
__JRC_FN float __logf(float x) {
  return __JRC_NVVM(lg2_approx)(x) * 0.6931471805599453f;
}
__JRC_FN float __log10f(float x) {
  return __JRC_NVVM(lg2_approx)(x) * 0.30102999566398120f;
}
__JRC_FN float __powf(float x, float y) {
  return __JRC_NVVM(ex2_approx)(y * __JRC_NVVM(lg2_approx)(x));
}
__JRC_FN float __tanhf(float x) {
  float r;
  asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

// --use_fast_math replaces the accurate functions by these.
#ifdef __JRC_FAST_MATH__
#define cosf __cosf
#define sinf __sinf
#define tanf __tanf
#define sincosf __sincosf
#define expf __expf
#define exp10f __exp10f
#define logf __logf
#define log2f __log2f
#define log10f __log10f
#define powf __powf
#endif
