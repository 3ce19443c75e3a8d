// builtin_variables.h: threadIdx, blockIdx, blockDim, gridDim, warpSize.
#pragma once
#pragma clang system_header
#include "jrc/device/vector_types.h"

// A property turns each member access into one read of a special register.
#define __JRC_BUILTIN(NAME, SREG)                                                      \
  struct __jrc_##NAME {                                                                \
    __declspec(property(get = get_x)) unsigned int x;                                  \
    __declspec(property(get = get_y)) unsigned int y;                                  \
    __declspec(property(get = get_z)) unsigned int z;                                  \
    static __JRC_FN unsigned int get_x() { return __nvvm_read_ptx_sreg_##SREG##_x(); } \
    static __JRC_FN unsigned int get_y() { return __nvvm_read_ptx_sreg_##SREG##_y(); } \
    static __JRC_FN unsigned int get_z() { return __nvvm_read_ptx_sreg_##SREG##_z(); } \
    __JRC_FN operator dim3() const { return dim3(get_x(), get_y(), get_z()); }         \
    __JRC_FN operator uint3() const { return uint3{get_x(), get_y(), get_z()}; }       \
  };                                                                                   \
  extern const __device__ __attribute__((weak)) __jrc_##NAME NAME;

__JRC_BUILTIN(threadIdx, tid)
__JRC_BUILTIN(blockIdx, ctaid)
__JRC_BUILTIN(blockDim, ntid)
__JRC_BUILTIN(gridDim, nctaid)
#undef __JRC_BUILTIN

__device__ const int warpSize = 32;
