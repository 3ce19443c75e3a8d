// bits.cc: bit-field and permutation instructions.
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ffi/cpu/symbols.h"

namespace jax_rawcuda {
namespace {

template <typename Word>
constexpr uint32_t kWidth = std::numeric_limits<Word>::digits;

// `count` low bits set.
template <typename Word>
Word LowMask(uint32_t count) {
  return count >= kWidth<Word> ? ~Word{0} : (Word{1} << count) - 1;
}

// `value` with bit `count - 1` repeated upwards.
template <typename Word>
Word SignExtend(Word value, uint32_t count) {
  if (count == 0) return 0;
  if (count >= kWidth<Word>) return value;
  const uint32_t shift = kWidth<Word> - count;
  return static_cast<Word>(static_cast<std::make_signed_t<Word>>(value << shift) >>
                           shift);
}

template <typename Word>
Word Extract(Word value, uint32_t position, uint32_t length) {
  position &= 255;
  length &= 255;
  if (position >= kWidth<Word>) return 0;
  return value >> position & LowMask<Word>(length);
}

// Bits beyond the top repeat the sign bit.
template <typename Word>
Word ExtractSigned(Word value, uint32_t position, uint32_t length) {
  position &= 255;
  length &= 255;
  if (position >= kWidth<Word>) position = kWidth<Word> - 1;
  const auto shifted = static_cast<std::make_signed_t<Word>>(value) >> position;
  return SignExtend(static_cast<Word>(shifted), length);
}

template <typename Word>
Word Insert(Word field, Word base, uint32_t position, uint32_t length) {
  position &= 255;
  length &= 255;
  if (position >= kWidth<Word>) return base;
  const Word mask = LowMask<Word>(length) << position;
  return (base & ~mask) | (field << position & mask);
}

uint32_t jrc_bfe_u32(uint32_t value, uint32_t position, uint32_t length) {
  return Extract(value, position, length);
}
uint64_t jrc_bfe_u64(uint64_t value, uint32_t position, uint32_t length) {
  return Extract(value, position, length);
}
uint32_t jrc_bfe_s32(uint32_t value, uint32_t position, uint32_t length) {
  return ExtractSigned(value, position, length);
}
uint64_t jrc_bfe_s64(uint64_t value, uint32_t position, uint32_t length) {
  return ExtractSigned(value, position, length);
}
uint32_t jrc_bfi_b32(uint32_t field, uint32_t base, uint32_t position,
                     uint32_t length) {
  return Insert(field, base, position, length);
}
uint64_t jrc_bfi_b64(uint64_t field, uint64_t base, uint32_t position,
                     uint32_t length) {
  return Insert(field, base, position, length);
}

uint32_t jrc_bmsk_clamp(uint32_t position, uint32_t length) {
  return position >= 32 ? 0 : LowMask<uint32_t>(length) << position;
}
uint32_t jrc_bmsk_wrap(uint32_t position, uint32_t length) {
  return jrc_bmsk_clamp(position & 31, length & 31);
}

uint32_t jrc_szext_clamp_u32(uint32_t value, uint32_t count) {
  return value & LowMask<uint32_t>(count);
}
uint32_t jrc_szext_clamp_s32(uint32_t value, uint32_t count) {
  return SignExtend(value, count);
}
uint32_t jrc_szext_wrap_u32(uint32_t value, uint32_t count) {
  return jrc_szext_clamp_u32(value, count & 31);
}
uint32_t jrc_szext_wrap_s32(uint32_t value, uint32_t count) {
  return jrc_szext_clamp_s32(value, count & 31);
}

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

// Picks four of the eight bytes of `high`:`low`; bit 3 of a selector repeats the sign.
uint32_t jrc_prmt(uint32_t low, uint32_t high, uint32_t selectors) {
  const uint64_t bytes = uint64_t{high} << 32 | low;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t selector = selectors >> 4 * i;
    uint32_t byte = bytes >> 8 * (selector & 7) & 255;
    if ((selector & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
}

}  // namespace

void AppendBits(SymbolTable& table) {
  table.insert(table.end(), {
                                JRC_SYMBOL(jrc_bfe_u32),
                                JRC_SYMBOL(jrc_bfe_u64),
                                JRC_SYMBOL(jrc_bfe_s32),
                                JRC_SYMBOL(jrc_bfe_s64),
                                JRC_SYMBOL(jrc_bfi_b32),
                                JRC_SYMBOL(jrc_bfi_b64),
                                JRC_SYMBOL(jrc_bmsk_clamp),
                                JRC_SYMBOL(jrc_bmsk_wrap),
                                JRC_SYMBOL(jrc_szext_clamp_u32),
                                JRC_SYMBOL(jrc_szext_clamp_s32),
                                JRC_SYMBOL(jrc_szext_wrap_u32),
                                JRC_SYMBOL(jrc_szext_wrap_s32),
                                JRC_SYMBOL(jrc_fns),
                                JRC_SYMBOL(jrc_prmt),
                            });
}

}  // namespace jax_rawcuda
