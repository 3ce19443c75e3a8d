// stddef.h: size_t, ptrdiff_t, NULL and offsetof.
#pragma once

typedef decltype(sizeof(0)) size_t;
typedef decltype((char*)0 - (char*)0) ptrdiff_t;
#ifdef __JAX_RAWCUDA_CPU__
typedef struct {
  long long integer __attribute__((aligned(16)));
} max_align_t;
#endif

#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1305 || \
    defined(__JAX_RAWCUDA_CPU__)
#define offsetof(type, member) __builtin_offsetof(type, member)
#else
#define offsetof(type, member) ((size_t)&(((type*)0)->member))
#endif
#endif
