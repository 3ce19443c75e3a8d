// cuda/std/__cccl/compiler.h: tells CCCL that there is no host side, as under NVRTC,
// while clang stays the compiler.
#pragma once
#include_next <cuda/std/__cccl/compiler.h>
#include <stddef.h>

#include "../../../initializer_list"
#include "../../../utility"
#undef _CCCL_COMPILER_NVRTC
#define _CCCL_COMPILER_NVRTC() (__CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__)
#define __NV_BUILTIN_INITIALIZER_LIST 1
