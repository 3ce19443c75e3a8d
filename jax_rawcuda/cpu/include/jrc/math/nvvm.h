// nvvm.h: how a single precision instruction and a function of libm are named.
#pragma once
#pragma clang system_header

// A single precision instruction; with --use_fast_math, the one that flushes
// subnormals.
#ifdef __JRC_FAST_MATH__
#define __JRC_NVVM(NAME) __nvvm_##NAME##_ftz_f
#else
#define __JRC_NVVM(NAME) __nvvm_##NAME##_f
#endif

// A function of the host's libm.
#define __JRC_LIBM extern "C" __device__ __attribute__((pure))
