// cuda/__barrier/barrier_block_scope.h: NVRTC's form of its layout check is not a
// constant for clang; the host form is.
#pragma once
#include <cuda/std/__cccl/compiler.h>
#undef _CCCL_COMPILER_NVRTC
#define _CCCL_COMPILER_NVRTC() _CCCL_VERSION_INVALID()
#include_next <cuda/__barrier/barrier_block_scope.h>
#undef _CCCL_COMPILER_NVRTC
#define _CCCL_COMPILER_NVRTC() (__CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__)
