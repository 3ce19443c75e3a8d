// conversions.h: conversion and reinterpretation intrinsics.
#pragma once
#pragma clang system_header
#include "jrc/device/qualifiers.h"

__JRC_FN int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__JRC_FN unsigned int __float_as_uint(float x) {
  return __builtin_bit_cast(unsigned int, x);
}
__JRC_FN float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__JRC_FN float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
__JRC_FN long long __double_as_longlong(double x) {
  return __builtin_bit_cast(long long, x);
}
__JRC_FN double __longlong_as_double(long long x) {
  return __builtin_bit_cast(double, x);
}
__JRC_FN int __double2hiint(double x) { return __double_as_longlong(x) >> 32; }
__JRC_FN int __double2loint(double x) { return __double_as_longlong(x); }
__JRC_FN double __hiloint2double(int hi, int lo) {
  return __longlong_as_double((long long)hi << 32 | (unsigned int)lo);
}

// Float to integer: out-of-range values saturate, as cvt does.
#define __JRC_TO_INTEGER(ROUND, MODE)                                                \
  __JRC_FN int __float2int_##ROUND(float x) { return __nvvm_f2i_##MODE(x); }         \
  __JRC_FN unsigned int __float2uint_##ROUND(float x) {                              \
    return __nvvm_f2ui_##MODE(x);                                                    \
  }                                                                                  \
  __JRC_FN long long __float2ll_##ROUND(float x) { return __nvvm_f2ll_##MODE(x); }   \
  __JRC_FN unsigned long long __float2ull_##ROUND(float x) {                         \
    return __nvvm_f2ull_##MODE(x);                                                   \
  }                                                                                  \
  __JRC_FN int __double2int_##ROUND(double x) { return __nvvm_d2i_##MODE(x); }       \
  __JRC_FN unsigned int __double2uint_##ROUND(double x) {                            \
    return __nvvm_d2ui_##MODE(x);                                                    \
  }                                                                                  \
  __JRC_FN long long __double2ll_##ROUND(double x) { return __nvvm_d2ll_##MODE(x); } \
  __JRC_FN unsigned long long __double2ull_##ROUND(double x) {                       \
    return __nvvm_d2ull_##MODE(x);                                                   \
  }
// Integer to float, and double to float.
#define __JRC_TO_FLOAT(ROUND, MODE)                                                  \
  __JRC_FN float __int2float_##ROUND(int x) { return __nvvm_i2f_##MODE(x); }         \
  __JRC_FN float __uint2float_##ROUND(unsigned int x) {                              \
    return __nvvm_ui2f_##MODE(x);                                                    \
  }                                                                                  \
  __JRC_FN float __ll2float_##ROUND(long long x) { return __nvvm_ll2f_##MODE(x); }   \
  __JRC_FN float __ull2float_##ROUND(unsigned long long x) {                         \
    return __nvvm_ull2f_##MODE(x);                                                   \
  }                                                                                  \
  __JRC_FN double __ll2double_##ROUND(long long x) { return __nvvm_ll2d_##MODE(x); } \
  __JRC_FN double __ull2double_##ROUND(unsigned long long x) {                       \
    return __nvvm_ull2d_##MODE(x);                                                   \
  }                                                                                  \
  __JRC_FN float __double2float_##ROUND(double x) { return __nvvm_d2f_##MODE(x); }
#define __JRC_CONVERSIONS(ROUND, MODE) \
  __JRC_TO_INTEGER(ROUND, MODE)        \
  __JRC_TO_FLOAT(ROUND, MODE)
__JRC_CONVERSIONS(rn, rn)
__JRC_CONVERSIONS(rz, rz)
__JRC_CONVERSIONS(rd, rm)
__JRC_CONVERSIONS(ru, rp)
#undef __JRC_CONVERSIONS
#undef __JRC_TO_FLOAT
#undef __JRC_TO_INTEGER

__JRC_FN double __int2double_rn(int x) { return x; }
__JRC_FN double __uint2double_rn(unsigned int x) { return x; }
