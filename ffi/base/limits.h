// limits.h: what every CUDA device allows; jax_rawcuda/_types/launch.py has the same.
#pragma once

#include <cstdint>

#include "ffi/base/text.h"

namespace jax_rawcuda {

inline constexpr uint32_t kMaxThreads = 1024;  // of a block
inline constexpr Extent kMaxBlock = {1024, 1024, 64};
inline constexpr uint64_t kMaxClusterBlocks = 16;  // larger than 8: not portable
inline constexpr Extent kMaxGrid = {2147483647, 65535, 65535};

}  // namespace jax_rawcuda
