// float16.h: 16-bit floating-point formats, as bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace jax_rawcuda {

inline float FloatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint32_t BitsFromFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float FloatFromBfloat16(uint16_t bits) {
  return FloatFromBits(uint32_t{bits} << 16);
}

inline float FloatFromFloat16(uint16_t bits) {
  const uint32_t sign = uint32_t{bits} >> 15 << 31;
  const uint32_t exponent = bits >> 10 & 31;
  const uint32_t mantissa = bits & 1023;
  if (exponent == 0) {  // mantissa units of 2^-24, exact in float
    return FloatFromBits(sign | BitsFromFloat(static_cast<float>(mantissa) * 0x1p-24f));
  }
  const uint32_t wide = exponent == 31 ? 255 : exponent + (127 - 15);
  return FloatFromBits(sign | wide << 23 | mantissa << 13);
}

// A binary floating-point format of at most 16 bits with infinities.
struct SmallFormat {
  int mantissa_bits;
  int exponent_bits;
};
inline constexpr SmallFormat kFloat16{10, 5};
inline constexpr SmallFormat kBfloat16{7, 8};

// Rounds to nearest, once, from any double.
uint16_t RoundToSmall(double value, SmallFormat format);

}  // namespace jax_rawcuda
