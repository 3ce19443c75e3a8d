// atomics.h: atomic functions; `_block` and `_system` state a scope.
#pragma once
#pragma clang system_header
#include "jrc/device/vector_types.h"

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

// clang leaves the scope out of the PTX of most operations.
#define __JRC_BLOCK(NAME, T, OP, REGISTER)       \
  __JRC_FN T atomic##NAME##_block(T* p, T v) {   \
    T r;                                         \
    asm volatile("atom.cta." OP " %0, [%1], %2;" \
                 : "=" REGISTER(r)               \
                 : "l"(p), REGISTER(v)           \
                 : "memory");                    \
    return r;                                    \
  }
#define __JRC_BLOCK_INTEGER(T, SIGN, WIDTH, REGISTER)                              \
  __JRC_BLOCK(Add, T, "add.u" WIDTH, REGISTER)                                     \
  __JRC_BLOCK(Min, T, "min." SIGN WIDTH, REGISTER)                                 \
  __JRC_BLOCK(Max, T, "max." SIGN WIDTH, REGISTER)                                 \
  __JRC_BLOCK(And, T, "and.b" WIDTH, REGISTER)                                     \
  __JRC_BLOCK(Or, T, "or.b" WIDTH, REGISTER)                                       \
  __JRC_BLOCK(Xor, T, "xor.b" WIDTH, REGISTER)                                     \
  __JRC_BLOCK(Exch, T, "exch.b" WIDTH, REGISTER)                                   \
  __JRC_FN T atomicSub_block(T* p, T v) { return atomicAdd_block(p, (T)(0 - v)); } \
  __JRC_FN T atomicCAS_block(T* p, T expected, T v) {                              \
    T r;                                                                           \
    asm volatile("atom.cta.cas.b" WIDTH " %0, [%1], %2, %3;"                       \
                 : "=" REGISTER(r)                                                 \
                 : "l"(p), REGISTER(expected), REGISTER(v)                         \
                 : "memory");                                                      \
    return r;                                                                      \
  }
#define __JRC_BLOCK_FLOAT(T, BITS, WIDTH, REGISTER)                  \
  __JRC_BLOCK(Add, T, "add.f" WIDTH, REGISTER)                       \
  __JRC_FN T atomicExch_block(T* p, T v) {                           \
    return __builtin_bit_cast(                                       \
        T, atomicExch_block((BITS*)p, __builtin_bit_cast(BITS, v))); \
  }
__JRC_BLOCK_INTEGER(int, "s", "32", "r")
__JRC_BLOCK_INTEGER(unsigned int, "u", "32", "r")
__JRC_BLOCK_INTEGER(long long, "s", "64", "l")
__JRC_BLOCK_INTEGER(unsigned long long, "u", "64", "l")
__JRC_BLOCK_INTEGER(long, "s", "64", "l")
__JRC_BLOCK_INTEGER(unsigned long, "u", "64", "l")
__JRC_BLOCK_FLOAT(float, unsigned int, "32", "f")
__JRC_BLOCK_FLOAT(double, unsigned long long, "64", "d")
#undef __JRC_BLOCK_FLOAT
#undef __JRC_BLOCK_INTEGER
#undef __JRC_BLOCK

#define __JRC_ATOMICS(SUFFIX, SCOPE)                      \
  __JRC_ATOMIC_INTEGER(int, SUFFIX, SCOPE)                \
  __JRC_ATOMIC_INTEGER(unsigned int, SUFFIX, SCOPE)       \
  __JRC_ATOMIC_INTEGER(long long, SUFFIX, SCOPE)          \
  __JRC_ATOMIC_INTEGER(unsigned long long, SUFFIX, SCOPE) \
  __JRC_ATOMIC_INTEGER(long, SUFFIX, SCOPE)               \
  __JRC_ATOMIC_INTEGER(unsigned long, SUFFIX, SCOPE)      \
  __JRC_ATOMIC_FLOAT(float, unsigned int, SUFFIX, SCOPE)  \
  __JRC_ATOMIC_FLOAT(double, unsigned long long, SUFFIX, SCOPE)
__JRC_ATOMICS(, __MEMORY_SCOPE_DEVICE)
__JRC_ATOMICS(_system, __MEMORY_SCOPE_SYSTEM)
#undef __JRC_ATOMICS
#undef __JRC_ATOMIC_FLOAT
#undef __JRC_ATOMIC_INTEGER

// What clang has no operation for; 16 bits it would take with the word around them.
#define __JRC_ATOMICS_IN_PTX(SUFFIX, PTX_SCOPE)                                  \
  __JRC_ATOMIC_WRAP(atomicInc##SUFFIX, "inc", PTX_SCOPE)                         \
  __JRC_ATOMIC_WRAP(atomicDec##SUFFIX, "dec", PTX_SCOPE)                         \
  __JRC_FN unsigned short atomicCAS##SUFFIX(unsigned short* p, unsigned short c, \
                                            unsigned short v) {                  \
    unsigned short r;                                                            \
    asm volatile("atom" PTX_SCOPE ".cas.b16 %0, [%1], %2, %3;"                   \
                 : "=h"(r)                                                       \
                 : "l"(p), "h"(c), "h"(v)                                        \
                 : "memory");                                                    \
    return r;                                                                    \
  }
__JRC_ATOMICS_IN_PTX(, "")
__JRC_ATOMICS_IN_PTX(_block, ".cta")
__JRC_ATOMICS_IN_PTX(_system, ".sys")
#undef __JRC_ATOMICS_IN_PTX
#undef __JRC_ATOMIC_WRAP

// Vectors are added element by element, as the documentation allows.
__JRC_FN float2 atomicAdd(float2* p, float2 v) {
  return float2{atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)};
}
__JRC_FN float4 atomicAdd(float4* p, float4 v) {
  return float4{atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y), atomicAdd(&p->z, v.z),
                atomicAdd(&p->w, v.w)};
}
