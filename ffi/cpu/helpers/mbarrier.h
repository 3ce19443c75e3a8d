// mbarrier.h: barriers that live in shared memory as one 64-bit word.
#pragma once

#include <cstdint>

namespace jax_rawcuda {

// Notes that `bytes` of an asynchronous copy have arrived.
void CompleteBytes(uint64_t* barrier, uint32_t bytes);

}  // namespace jax_rawcuda
