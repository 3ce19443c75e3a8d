// text.h: numbers and launch extents in messages.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace jax_rawcuda {

using Extent = std::array<uint32_t, 3>;

inline uint64_t Product(const Extent& extent) {
  return uint64_t{extent[0]} * extent[1] * extent[2];
}

inline std::string Str(uint64_t value) { return std::to_string(value); }

inline std::string Str(const Extent& extent) {
  return "(" + Str(extent[0]) + ", " + Str(extent[1]) + ", " + Str(extent[2]) + ")";
}

}  // namespace jax_rawcuda
