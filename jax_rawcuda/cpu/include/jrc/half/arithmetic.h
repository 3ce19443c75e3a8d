// arithmetic.h: arithmetic and comparisons of one format, scalars and pairs.
// See type.h; no include guard.

// One scalar function, and the same on both halves of a pair. EXPRESSION is written in
// clang's native 16-bit type: one rounding per operation.
#define __JRC_UNARY(NAME, NAME2, EXPRESSION) \
  __JRC_FN __JRC_H NAME(__JRC_H h) {         \
    __JRC_NATIVE a = h.__jrc_value();        \
    return __JRC_H::__jrc_of(EXPRESSION);    \
  }                                          \
  __JRC_FN __JRC_H2 NAME2(__JRC_H2 h) { return __JRC_H2(NAME(h.x), NAME(h.y)); }
#define __JRC_BINARY(NAME, NAME2, CONTRACT, EXPRESSION)                      \
  __JRC_FN __JRC_H NAME(__JRC_H g, __JRC_H h) {                              \
    _Pragma(CONTRACT) __JRC_NATIVE a = g.__jrc_value(), b = h.__jrc_value(); \
    return __JRC_H::__jrc_of(EXPRESSION);                                    \
  }                                                                          \
  __JRC_FN __JRC_H2 NAME2(__JRC_H2 g, __JRC_H2 h) {                          \
    return __JRC_H2(NAME(g.x, h.x), NAME(g.y, h.y));                         \
  }
#define __JRC_TERNARY(NAME, NAME2, EXPRESSION)                                  \
  __JRC_FN __JRC_H NAME(__JRC_H f, __JRC_H g, __JRC_H h) {                      \
    __JRC_NATIVE a = f.__jrc_value(), b = g.__jrc_value(), c = h.__jrc_value(); \
    return __JRC_H::__jrc_of(EXPRESSION);                                       \
  }                                                                             \
  __JRC_FN __JRC_H2 NAME2(__JRC_H2 f, __JRC_H2 g, __JRC_H2 h) {                 \
    return __JRC_H2(NAME(f.x, g.x, h.x), NAME(f.y, g.y, h.y));                  \
  }
#define __JRC_NAN __builtin_bit_cast(__JRC_NATIVE, (unsigned short)0x7fff)
#define __JRC_FUSED "clang fp contract(fast)"
#define __JRC_SPLIT "clang fp contract(off)"

__JRC_FN __JRC_NATIVE __jrc_saturate(__JRC_NATIVE a) {
  return (__JRC_NATIVE)__nvvm_saturate_f((float)a);
}
__JRC_FN __JRC_NATIVE __jrc_relu(__JRC_NATIVE a) {
  return a <= (__JRC_NATIVE)0.0f ? (__JRC_NATIVE)0.0f : a;
}

// As in rounding.h: what is never contracted is an instruction.
#define __JRC_RN(OP)                                                          \
  __JRC_FN __JRC_NATIVE __jrc_##OP##_rn(__JRC_NATIVE a, __JRC_NATIVE b) {     \
    unsigned short x = __builtin_bit_cast(unsigned short, a);                 \
    unsigned short y = __builtin_bit_cast(unsigned short, b), result;         \
    asm(#OP ".rn." __JRC_PTX " %0, %1, %2;" : "=h"(result) : "h"(x), "h"(y)); \
    return __builtin_bit_cast(__JRC_NATIVE, result);                          \
  }
__JRC_RN(add)
__JRC_RN(sub)
__JRC_RN(mul)
#undef __JRC_RN

__JRC_BINARY(__hadd, __hadd2, __JRC_FUSED, a + b)
__JRC_BINARY(__hsub, __hsub2, __JRC_FUSED, a - b)
__JRC_BINARY(__hmul, __hmul2, __JRC_FUSED, a* b)
__JRC_BINARY(__hadd_rn, __hadd2_rn, __JRC_SPLIT, __jrc_add_rn(a, b))
__JRC_BINARY(__hsub_rn, __hsub2_rn, __JRC_SPLIT, __jrc_sub_rn(a, b))
__JRC_BINARY(__hmul_rn, __hmul2_rn, __JRC_SPLIT, __jrc_mul_rn(a, b))
__JRC_BINARY(__hadd_sat, __hadd2_sat, __JRC_SPLIT, __jrc_saturate(a + b))
__JRC_BINARY(__hsub_sat, __hsub2_sat, __JRC_SPLIT, __jrc_saturate(a - b))
__JRC_BINARY(__hmul_sat, __hmul2_sat, __JRC_SPLIT, __jrc_saturate(a* b))
__JRC_BINARY(__hdiv, __h2div, __JRC_SPLIT, (__JRC_NATIVE)((float)a / (float)b))
__JRC_TERNARY(__hfma, __hfma2, __builtin_elementwise_fma(a, b, c))
__JRC_TERNARY(__hfma_sat, __hfma2_sat,
              __jrc_saturate(__builtin_elementwise_fma(a, b, c)))
__JRC_TERNARY(__hfma_relu, __hfma2_relu, __jrc_relu(__builtin_elementwise_fma(a, b, c)))
__JRC_UNARY(__hneg, __hneg2, -a)
__JRC_UNARY(__habs, __habs2, (__JRC_NATIVE)fabsf((float)a))

__JRC_BINARY(__hmax, __hmax2, __JRC_SPLIT, (__JRC_NATIVE)fmaxf((float)a, (float)b))
__JRC_BINARY(__hmin, __hmin2, __JRC_SPLIT, (__JRC_NATIVE)fminf((float)a, (float)b))
__JRC_BINARY(__hmax_nan, __hmax2_nan, __JRC_SPLIT,
             a != a || b != b ? __JRC_NAN : (__JRC_NATIVE)fmaxf((float)a, (float)b))
__JRC_BINARY(__hmin_nan, __hmin2_nan, __JRC_SPLIT,
             a != a || b != b ? __JRC_NAN : (__JRC_NATIVE)fminf((float)a, (float)b))

// Complex multiply and add of pairs (real, imaginary).
__JRC_FN __JRC_H2 __hcmadd(__JRC_H2 a, __JRC_H2 b, __JRC_H2 c) {
  __JRC_H re = __hfma(a.x, b.x, c.x), im = __hfma(a.x, b.y, c.y);
  return __JRC_H2(__hfma(__hneg(a.y), b.y, re), __hfma(a.y, b.x, im));
}

// Comparisons: of scalars, of pairs as 1.0 or 0.0, as a mask, and over both halves.
#define __JRC_COMPARE(OP, EXPRESSION)                                                  \
  __JRC_FN bool __h##OP(__JRC_H g, __JRC_H h) {                                        \
    float a = g, b = h;                                                                \
    return EXPRESSION;                                                                 \
  }                                                                                    \
  __JRC_FN __JRC_H2 __h##OP##2(__JRC_H2 g, __JRC_H2 h) {                               \
    return __JRC_H2(__h##OP(g.x, h.x) ? 1.0f : 0.0f, __h##OP(g.y, h.y) ? 1.0f : 0.0f); \
  }                                                                                    \
  __JRC_FN unsigned int __h##OP##2_mask(__JRC_H2 g, __JRC_H2 h) {                      \
    return (__h##OP(g.x, h.x) ? 0xffffu : 0u) |                                        \
           (__h##OP(g.y, h.y) ? 0xffff0000u : 0u);                                     \
  }                                                                                    \
  __JRC_FN bool __hb##OP##2(__JRC_H2 g, __JRC_H2 h) {                                  \
    return __h##OP(g.x, h.x) && __h##OP(g.y, h.y);                                     \
  }
__JRC_COMPARE(eq, a == b)
__JRC_COMPARE(ne, a<b || a> b)
__JRC_COMPARE(le, a <= b)
__JRC_COMPARE(ge, a >= b)
__JRC_COMPARE(lt, a < b)
__JRC_COMPARE(gt, a > b)
__JRC_COMPARE(equ, !(a < b || a > b))
__JRC_COMPARE(neu, a != b)
__JRC_COMPARE(leu, !(a > b))
__JRC_COMPARE(geu, !(a < b))
__JRC_COMPARE(ltu, !(a >= b))
__JRC_COMPARE(gtu, !(a <= b))
#undef __JRC_COMPARE
__JRC_FN bool __hisnan(__JRC_H h) { return isnan((float)h); }
__JRC_FN int __hisinf(__JRC_H h) {
  return isinf((float)h) ? ((float)h < 0.0f ? -1 : 1) : 0;
}
__JRC_FN __JRC_H2 __hisnan2(__JRC_H2 h) {
  return __JRC_H2(__hisnan(h.x) ? 1.0f : 0.0f, __hisnan(h.y) ? 1.0f : 0.0f);
}

#define __JRC_OPERATOR(OP, NAME, NAME2)                                  \
  __JRC_FN __JRC_H operator OP(const __JRC_H& g, const __JRC_H& h) {     \
    return NAME(g, h);                                                   \
  }                                                                      \
  __JRC_FN __JRC_H2 operator OP(const __JRC_H2& g, const __JRC_H2& h) {  \
    return NAME2(g, h);                                                  \
  }                                                                      \
  __JRC_FN __JRC_H& operator OP## = (__JRC_H & g, const __JRC_H& h) {    \
    return g = NAME(g, h);                                               \
  }                                                                      \
  __JRC_FN __JRC_H2& operator OP## = (__JRC_H2 & g, const __JRC_H2& h) { \
    return g = NAME2(g, h);                                              \
  }
__JRC_OPERATOR(+, __hadd, __hadd2)
__JRC_OPERATOR(-, __hsub, __hsub2)
__JRC_OPERATOR(*, __hmul, __hmul2)
__JRC_OPERATOR(/, __hdiv, __h2div)
#undef __JRC_OPERATOR
__JRC_FN __JRC_H operator+(const __JRC_H& h) { return h; }
__JRC_FN __JRC_H operator-(const __JRC_H& h) { return __hneg(h); }
__JRC_FN __JRC_H2 operator+(const __JRC_H2& h) { return h; }
__JRC_FN __JRC_H2 operator-(const __JRC_H2& h) { return __hneg2(h); }

#define __JRC_STEP(OP, NAME)                                                       \
  __JRC_FN __JRC_H& operator OP(__JRC_H& h) { return h = NAME(h, __JRC_H(1.0f)); } \
  __JRC_FN __JRC_H operator OP(__JRC_H& h, int) {                                  \
    __JRC_H old = h;                                                               \
    h = NAME(h, __JRC_H(1.0f));                                                    \
    return old;                                                                    \
  }                                                                                \
  __JRC_FN __JRC_H2& operator OP(__JRC_H2& h) {                                    \
    return h = __JRC_H2(NAME(h.x, __JRC_H(1.0f)), NAME(h.y, __JRC_H(1.0f)));       \
  }                                                                                \
  __JRC_FN __JRC_H2 operator OP(__JRC_H2& h, int) {                                \
    __JRC_H2 old = h;                                                              \
    h = __JRC_H2(NAME(h.x, __JRC_H(1.0f)), NAME(h.y, __JRC_H(1.0f)));              \
    return old;                                                                    \
  }
__JRC_STEP(++, __hadd)
__JRC_STEP(--, __hsub)
#undef __JRC_STEP

#define __JRC_RELATION(OP, NAME)                                    \
  __JRC_FN bool operator OP(const __JRC_H& g, const __JRC_H& h) {   \
    return __h##NAME(g, h);                                         \
  }                                                                 \
  __JRC_FN bool operator OP(const __JRC_H2& g, const __JRC_H2& h) { \
    return __hb##NAME##2(g, h);                                     \
  }
__JRC_RELATION(==, eq)
__JRC_RELATION(!=, neu)
__JRC_RELATION(<, lt)
__JRC_RELATION(<=, le)
__JRC_RELATION(>, gt)
__JRC_RELATION(>=, ge)
#undef __JRC_RELATION

#define __JRC_MATH(NAME, EXPRESSION) \
  __JRC_UNARY(h##NAME, h2##NAME, (__JRC_NATIVE)(EXPRESSION))
__JRC_MATH(sqrt, sqrtf((float)a))
__JRC_MATH(rsqrt, 1.0f / sqrtf((float)a))
__JRC_MATH(rcp, 1.0f / (float)a)
__JRC_MATH(exp, expf((float)a))
__JRC_MATH(exp2, exp2f((float)a))
__JRC_MATH(exp10, exp10f((float)a))
__JRC_MATH(log, logf((float)a))
__JRC_MATH(log2, log2f((float)a))
__JRC_MATH(log10, log10f((float)a))
__JRC_MATH(sin, sinf((float)a))
__JRC_MATH(cos, cosf((float)a))
__JRC_MATH(tanh, tanhf((float)a))
__JRC_MATH(tanh_approx, tanhf((float)a))
__JRC_MATH(floor, floorf((float)a))
__JRC_MATH(ceil, ceilf((float)a))
__JRC_MATH(trunc, truncf((float)a))
__JRC_MATH(rint, rintf((float)a))
#undef __JRC_MATH
#undef __JRC_NAN
#undef __JRC_FUSED
#undef __JRC_SPLIT
#undef __JRC_UNARY
#undef __JRC_BINARY
#undef __JRC_TERNARY
