// qualifiers.h: execution and memory spaces, launch bounds, the predefined macros.
#pragma once
#pragma clang system_header

#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
// CCCL: no host library; and it asks for the version under these names when clang
// compiles.
#define CUDA_VERSION 13000
#define CUDART_VERSION 13000
#define _CCCL_ENABLE_FREESTANDING 1
#define CCCL_DISABLE_NVFP8_SUPPORT 1
#define __JAX_RAWCUDA_CPU__ 1

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__ inline
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(n)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __nv_pure__ __attribute__((pure))
// cuRAND's headers put these around what is deprecated.
#define __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_END
#if __has_attribute(grid_constant)
#define __grid_constant__ __attribute__((grid_constant))
#else
#define __grid_constant__
#endif
// `__noinline__` is a keyword of clang's CUDA mode.

// Everything our own headers define. Without debug information of their own, inlined
// bodies take the line of the call: messages then point at the user's source.
#define __JRC_FN __host__ __device__ __forceinline__ __attribute__((nodebug))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef long clock_t;
#ifndef NULL
#define NULL __null
#endif
