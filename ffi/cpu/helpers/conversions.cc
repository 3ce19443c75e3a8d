// conversions.cc: eight-bit floating-point formats.
#include <cmath>
#include <cstdint>

#include "ffi/cpu/base/float16.h"
#include "ffi/cpu/helpers/symbols.h"

namespace jax_rawcuda {
namespace {

// An 8-bit floating-point format.
struct Fp8Format {
  int mantissa_bits;
  int bias;
  uint32_t largest;  // finite value, as bits
  uint32_t nan;      // canonical
};
constexpr Fp8Format kE4m3 = {3, 7, 0x7E, 0x7F};
constexpr Fp8Format kE5m2 = {2, 15, 0x7B, 0x7F};

// Rounds to nearest even and saturates to finite values.
template <const Fp8Format& format>
uint32_t EncodeFp8(float value) {
  if (std::isnan(value)) return format.nan;
  const uint32_t sign = std::signbit(value) ? 0x80 : 0;
  const float magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | format.largest;
  int exponent;
  std::frexp(magnitude, &exponent);
  exponent -= 1;
  if (magnitude == 0 || exponent < 1 - format.bias) exponent = 1 - format.bias;
  if (exponent > format.bias + 1) return sign | format.largest;
  const float units =
      std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  // Adding the whole significand carries into the exponent field when it must.
  const uint32_t bits =
      (static_cast<uint32_t>(exponent + format.bias - 1) << format.mantissa_bits) +
      static_cast<uint32_t>(units);
  return sign | (bits > format.largest ? format.largest : bits);
}

template <const Fp8Format& format>
float DecodeFp8(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7F;
  const uint32_t mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  float value;
  if (format.bias == kE4m3.bias && magnitude == 0x7F) {
    value = NAN;
  } else if (format.bias == kE5m2.bias && exponent == 31) {
    value = mantissa == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(mantissa),
                       1 - format.bias - format.mantissa_bits);
  } else {
    value = std::ldexp(static_cast<float>(mantissa + (1u << format.mantissa_bits)),
                       exponent - format.bias - format.mantissa_bits);
  }
  return std::copysign(value, (bits & 0x80) != 0 ? -1.0f : 1.0f);
}

// Pairs: the first operand goes to the upper half.
template <const Fp8Format& format>
uint16_t EncodePair(float high, float low) {
  return static_cast<uint16_t>(EncodeFp8<format>(high) << 8 | EncodeFp8<format>(low));
}
template <const Fp8Format& format>
uint32_t DecodePair(uint32_t pair) {
  const auto half = [](float value) { return uint32_t{RoundToSmall(value, kFloat16)}; };
  return half(DecodeFp8<format>(pair >> 8 & 0xFF)) << 16 |
         half(DecodeFp8<format>(pair & 0xFF));
}

}  // namespace

void AppendConversions(SymbolTable& table) {
  table.insert(table.end(), {
                                {"jrc_cvt_e4m3x2_f32", AddressOf(&EncodePair<kE4m3>)},
                                {"jrc_cvt_e5m2x2_f32", AddressOf(&EncodePair<kE5m2>)},
                                {"jrc_cvt_f16x2_e4m3x2", AddressOf(&DecodePair<kE4m3>)},
                                {"jrc_cvt_f16x2_e5m2x2", AddressOf(&DecodePair<kE5m2>)},
                            });
}

}  // namespace jax_rawcuda
