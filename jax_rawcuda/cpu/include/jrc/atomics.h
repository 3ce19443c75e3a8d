// atomics.h: atomic functions; `_block` and `_system` state a scope.
#pragma once
#pragma clang system_header
#include "vector_types.h"

#define __JRC_ATOMIC_INTEGER(T, SUFFIX, SCOPE)                                   \
  __JRC_FN T atomicAdd##SUFFIX(T* p, T v) {                                      \
    return __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, SCOPE);             \
  }                                                                              \
  __JRC_FN T atomicSub##SUFFIX(T* p, T v) {                                      \
    return __scoped_atomic_fetch_add(p, (T)(0 - v), __ATOMIC_RELAXED, SCOPE);    \
  }                                                                              \
  __JRC_FN T atomicMin##SUFFIX(T* p, T v) {                                      \
    return __scoped_atomic_fetch_min(p, v, __ATOMIC_RELAXED, SCOPE);             \
  }                                                                              \
  __JRC_FN T atomicMax##SUFFIX(T* p, T v) {                                      \
    return __scoped_atomic_fetch_max(p, v, __ATOMIC_RELAXED, SCOPE);             \
  }                                                                              \
  __JRC_FN T atomicAnd##SUFFIX(T* p, T v) {                                      \
    return __scoped_atomic_fetch_and(p, v, __ATOMIC_RELAXED, SCOPE);             \
  }                                                                              \
  __JRC_FN T atomicOr##SUFFIX(T* p, T v) {                                       \
    return __scoped_atomic_fetch_or(p, v, __ATOMIC_RELAXED, SCOPE);              \
  }                                                                              \
  __JRC_FN T atomicXor##SUFFIX(T* p, T v) {                                      \
    return __scoped_atomic_fetch_xor(p, v, __ATOMIC_RELAXED, SCOPE);             \
  }                                                                              \
  __JRC_FN T atomicExch##SUFFIX(T* p, T v) {                                     \
    return __scoped_atomic_exchange_n(p, v, __ATOMIC_RELAXED, SCOPE);            \
  }                                                                              \
  __JRC_FN T atomicCAS##SUFFIX(T* p, T expected, T v) {                          \
    __scoped_atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, \
                                       __ATOMIC_RELAXED, SCOPE);                 \
    return expected;                                                             \
  }

#define __JRC_ATOMIC_FLOAT(T, BITS, SUFFIX, SCOPE)                           \
  __JRC_FN T atomicAdd##SUFFIX(T* p, T v) {                                  \
    return __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, SCOPE);         \
  }                                                                          \
  __JRC_FN T atomicExch##SUFFIX(T* p, T v) {                                 \
    return __builtin_bit_cast(                                               \
        T, __scoped_atomic_exchange_n((BITS*)p, __builtin_bit_cast(BITS, v), \
                                      __ATOMIC_RELAXED, SCOPE));             \
  }

#define __JRC_ATOMIC_WRAP(NAME, OP, PTX_SCOPE)                  \
  __JRC_FN unsigned int NAME(unsigned int* p, unsigned int v) { \
    unsigned int r;                                             \
    asm volatile("atom" PTX_SCOPE "." OP ".u32 %0, [%1], %2;"   \
                 : "=r"(r)                                      \
                 : "l"(p), "r"(v)                               \
                 : "memory");                                   \
    return r;                                                   \
  }

#define __JRC_ATOMICS(SUFFIX, SCOPE, PTX_SCOPE)                                  \
  __JRC_ATOMIC_INTEGER(int, SUFFIX, SCOPE)                                       \
  __JRC_ATOMIC_INTEGER(unsigned int, SUFFIX, SCOPE)                              \
  __JRC_ATOMIC_INTEGER(long long, SUFFIX, SCOPE)                                 \
  __JRC_ATOMIC_INTEGER(unsigned long long, SUFFIX, SCOPE)                        \
  __JRC_ATOMIC_INTEGER(long, SUFFIX, SCOPE)                                      \
  __JRC_ATOMIC_INTEGER(unsigned long, SUFFIX, SCOPE)                             \
  __JRC_ATOMIC_FLOAT(float, unsigned int, SUFFIX, SCOPE)                         \
  __JRC_ATOMIC_FLOAT(double, unsigned long long, SUFFIX, SCOPE)                  \
  __JRC_ATOMIC_WRAP(atomicInc##SUFFIX, "inc", PTX_SCOPE)                         \
  __JRC_ATOMIC_WRAP(atomicDec##SUFFIX, "dec", PTX_SCOPE)                         \
  __JRC_FN unsigned short atomicCAS##SUFFIX(unsigned short* p, unsigned short c, \
                                            unsigned short v) {                  \
    __scoped_atomic_compare_exchange_n(p, &c, v, false, __ATOMIC_RELAXED,        \
                                       __ATOMIC_RELAXED, SCOPE);                 \
    return c;                                                                    \
  }
__JRC_ATOMICS(, __MEMORY_SCOPE_DEVICE, "")
__JRC_ATOMICS(_block, __MEMORY_SCOPE_WRKGRP, ".cta")
__JRC_ATOMICS(_system, __MEMORY_SCOPE_SYSTEM, ".sys")
#undef __JRC_ATOMICS
#undef __JRC_ATOMIC_FLOAT
#undef __JRC_ATOMIC_INTEGER
#undef __JRC_ATOMIC_WRAP

// Vectors are added element by element, as the documentation allows.
__JRC_FN float2 atomicAdd(float2* p, float2 v) {
  return float2{atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)};
}
__JRC_FN float4 atomicAdd(float4* p, float4 v) {
  return float4{atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y), atomicAdd(&p->z, v.z),
                atomicAdd(&p->w, v.w)};
}
