// float16.cc: rounding to 16-bit floating-point formats.
#include "ffi/cpu/base/float16.h"

namespace jax_rawcuda {

uint16_t RoundToSmall(double value, SmallFormat format) {
  const uint32_t one = 1u << format.mantissa_bits;
  const uint32_t infinity = ((1u << format.exponent_bits) - 1) << format.mantissa_bits;
  if (std::isnan(value)) return 0x7FFF;  // the device's canonical NaN
  const uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return static_cast<uint16_t>(sign | infinity);
  if (magnitude == 0) return static_cast<uint16_t>(sign);

  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  int exponent;
  std::frexp(magnitude, &exponent);
  exponent -= 1;
  if (exponent > bias) exponent = bias;  // at least infinity, found out below
  if (exponent < 1 - bias) exponent = 1 - bias;
  const double units =
      std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  if (units >= 2.0 * one && exponent == bias) {
    return static_cast<uint16_t>(sign | infinity);
  }
  // Adding the whole significand carries into the exponent field when it must.
  const uint32_t fields = static_cast<uint32_t>(exponent + bias - 1)
                          << format.mantissa_bits;
  return static_cast<uint16_t>(sign | (fields + static_cast<uint32_t>(units)));
}

}  // namespace jax_rawcuda
