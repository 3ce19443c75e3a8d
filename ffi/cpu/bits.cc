// bits.cc: the search for set bits.
#include <cstdint>

#include "ffi/cpu/helpers/symbols.h"

namespace jax_rawcuda {
namespace {

// Position of the n-th set bit from `base`, upwards or (n < 0) downwards; ~0: none.
uint32_t jrc_fns(uint32_t mask, uint32_t base, uint32_t n) {
  const auto offset = static_cast<int32_t>(n);
  const int32_t step = offset < 0 ? -1 : 1;
  // Of |offset| bits, the one at `base` counts as the first; 0 asks for that one only.
  const uint32_t wanted = offset == 0 ? 1 : offset < 0 ? 0u - n : n;
  uint32_t found = 0;
  for (int64_t position = base; position >= 0 && position < 32; position += step) {
    if ((mask >> position & 1) != 0 && ++found == wanted) {
      return static_cast<uint32_t>(position);
    }
    if (offset == 0) break;
  }
  return ~0u;
}

}  // namespace

void AppendBits(SymbolTable& table) { table.push_back(JRC_SYMBOL(jrc_fns)); }

}  // namespace jax_rawcuda
