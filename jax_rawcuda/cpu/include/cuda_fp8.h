// cuda_fp8.h: __nv_fp8_e4m3, _e5m2 and _e8m0, converted by integer arithmetic.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t {
  __NV_E4M3,
  __NV_E5M2
} __nv_fp8_interpretation_t;

__JRC_FN __nv_fp8_storage_t __nv_cvt_float_to_fp8(float v, __nv_saturation_t saturate,
                                                  __nv_fp8_interpretation_t format) {
  const int mantissa = format == __NV_E4M3 ? 3 : 2;
  const int lowest = format == __NV_E4M3 ? -6 : -14;  // exponent of the subnormals
  const unsigned int largest = format == __NV_E4M3 ? 0x7e : 0x7b;
  const unsigned int bits = __float_as_uint(v);
  if (v != v) return 0x7f;
  int exponent = max((int)(bits >> 23 & 0xff) - 127, lowest);
  // In units of the last place the value is an integer after rounding; a carry into
  // the exponent comes out right because the fields are adjacent.
  float unit = __uint_as_float((unsigned int)(127 + mantissa - exponent) << 23);
  unsigned int code = __builtin_isinf(v)
                          ? 0xff
                          : ((unsigned int)(exponent - lowest) << mantissa) +
                                (unsigned int)rintf(fabsf(v) * unit);
  if (code > largest) code = saturate == __NV_SATFINITE ? largest : largest + 1;
  return (__nv_fp8_storage_t)(code | (bits >> 24 & 0x80));
}
__JRC_FN float __jrc_fp8_to_float(__nv_fp8_storage_t v,
                                  __nv_fp8_interpretation_t format) {
  if (format == __NV_E5M2) return __ushort_as_half((unsigned short)(v << 8));
  if ((v & 0x7f) == 0x7f) return __builtin_nanf("");
  unsigned int exponent = v >> 3 & 15, mantissa = v & 7;
  float r = exponent ? __uint_as_float((exponent + 120) << 23 | mantissa << 20)
                     : mantissa * 0x1p-9f;
  return v & 0x80 ? -r : r;
}
__JRC_FN __nv_fp8_storage_t __nv_cvt_double_to_fp8(double v, __nv_saturation_t saturate,
                                                   __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(__jrc_odd(v), saturate, format);
}
__JRC_FN __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw v,
                                                    __nv_saturation_t saturate,
                                                    __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(__half(v), saturate, format);
}
__JRC_FN __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(
    __nv_bfloat16_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(__nv_bfloat16(v), saturate, format);
}
__JRC_FN __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v,
                                            __nv_fp8_interpretation_t format) {
  return __half(__jrc_fp8_to_float(v, format));
}
__JRC_FN __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(
    float2 v, __nv_saturation_t saturate, __nv_fp8_interpretation_t format) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(v.x, saturate, format) |
                                __nv_cvt_float_to_fp8(v.y, saturate, format) << 8);
}
__JRC_FN __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(
    __half2_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t format) {
  return __nv_cvt_float2_to_fp8x2(__half22float2(v), saturate, format);
}
__JRC_FN __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t v,
                                                __nv_fp8_interpretation_t format) {
  return {__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)v, format).x,
          __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(v >> 8), format).x};
}

#define __JRC_FP8(NAME, FORMAT, X2, X4)                                             \
  struct NAME {                                                                     \
    __nv_fp8_storage_t __x;                                                         \
    NAME() = default;                                                               \
    __JRC_FN explicit NAME(float v)                                                 \
        : __x(__nv_cvt_float_to_fp8(v, __NV_SATFINITE, FORMAT)) {}                  \
    __JRC_FN explicit NAME(double v)                                                \
        : __x(__nv_cvt_double_to_fp8(v, __NV_SATFINITE, FORMAT)) {}                 \
    __JRC_FN explicit NAME(__half v) : NAME((float)v) {}                            \
    __JRC_FN explicit NAME(__nv_bfloat16 v) : NAME((float)v) {}                     \
    __JRC_FN explicit NAME(int v) : NAME((double)v) {}                              \
    __JRC_FN explicit NAME(unsigned int v) : NAME((double)v) {}                     \
    __JRC_FN explicit operator float() const {                                      \
      return __jrc_fp8_to_float(__x, FORMAT);                                       \
    }                                                                               \
    __JRC_FN explicit operator double() const { return (float)*this; }              \
    __JRC_FN explicit operator __half() const { return __half((float)*this); }      \
    __JRC_FN explicit operator __nv_bfloat16() const {                              \
      return __nv_bfloat16((float)*this);                                           \
    }                                                                               \
    __JRC_FN explicit operator int() const { return __float2int_rz((float)*this); } \
    __JRC_FN explicit operator bool() const { return (__x & 0x7f) != 0; }           \
  };                                                                                \
  struct __align__(2) X2 {                                                          \
    __nv_fp8x2_storage_t __x;                                                       \
    X2() = default;                                                                 \
    __JRC_FN explicit X2(float2 v)                                                  \
        : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, FORMAT)) {}               \
    __JRC_FN explicit X2(__half2 v) : X2(__half22float2(v)) {}                      \
    __JRC_FN explicit operator float2() const {                                     \
      return float2{__jrc_fp8_to_float((__nv_fp8_storage_t)__x, FORMAT),            \
                    __jrc_fp8_to_float((__nv_fp8_storage_t)(__x >> 8), FORMAT)};    \
    }                                                                               \
    __JRC_FN explicit operator __half2() const {                                    \
      return __float22half2_rn((float2) * this);                                    \
    }                                                                               \
  };                                                                                \
  struct __align__(4) X4 {                                                          \
    __nv_fp8x4_storage_t __x;                                                       \
    X4() = default;                                                                 \
    __JRC_FN explicit X4(float4 v)                                                  \
        : __x(X2(float2{v.x, v.y}).__x | (unsigned int)X2(float2{v.z, v.w}).__x     \
                                             << 16) {}                              \
    __JRC_FN explicit operator float4() const {                                     \
      X2 low, high;                                                                 \
      low.__x = (__nv_fp8x2_storage_t)__x;                                          \
      high.__x = (__nv_fp8x2_storage_t)(__x >> 16);                                 \
      float2 a = (float2)low, b = (float2)high;                                     \
      return float4{a.x, a.y, b.x, b.y};                                            \
    }                                                                               \
  };
__JRC_FP8(__nv_fp8_e4m3, __NV_E4M3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3)
__JRC_FP8(__nv_fp8_e5m2, __NV_E5M2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2)
#undef __JRC_FP8

// A power of two and nothing else: the scale of a microscaling block.
__JRC_FN __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t v) {
  __nv_bfloat16_raw r;
  r.x = v == 0xff ? 0x7fff : v ? (unsigned short)(v << 7) : 0x40;  // 2^-127: subnormal
  return r;
}
__JRC_FN __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t v) {
  return {__nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)v).x,
          __nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)(v >> 8)).x};
}
struct __nv_fp8_e8m0 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e8m0() = default;
  __JRC_FN explicit operator __nv_bfloat16() const {
    return __nv_cvt_e8m0_to_bf16raw(__x);
  }
  __JRC_FN explicit operator float() const { return (__nv_bfloat16) * this; }
  __JRC_FN explicit operator double() const { return (float)*this; }
};
