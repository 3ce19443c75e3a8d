// heap.h: the device heap: malloc and free inside kernels.
#pragma once

#include <cstdint>

namespace jax_rawcuda {

// Frees what a launch has allocated and not freed. For one that failed: a kernel that
// stops between malloc and free would leave less to every later one.
void ReleaseAllocations(uint64_t launch);

}  // namespace jax_rawcuda
