// bit_tricks.h: bit scans, under one name on every compiler.
#pragma once

#include <cstdint>

#ifdef _MSC_VER
#include <intrin.h>
#endif

namespace jax_rawcuda {

inline uint32_t CountBits(uint32_t word) {
#ifdef _MSC_VER
  return __popcnt(word);
#else
  return static_cast<uint32_t>(__builtin_popcount(word));
#endif
}

// Index of the lowest set bit of a word that is not 0.
inline uint32_t LowestBit(uint32_t word) {
#ifdef _MSC_VER
  unsigned long index;
  _BitScanForward(&index, word);
  return index;
#else
  return static_cast<uint32_t>(__builtin_ctz(word));
#endif
}

}  // namespace jax_rawcuda
