// float16.cc: rounding to 16-bit floating-point formats.
#include "ffi/cpu/float16.h"

namespace jax_rawcuda {
namespace {

// Rounds |value| scaled to units in the last place to a whole number.
double RoundUnits(double units, Rounding rounding, bool negative) {
  switch (rounding) {
    case Rounding::kNearest:
      return std::nearbyint(units);
    case Rounding::kZero:
      return std::floor(units);
    case Rounding::kDown:
      return negative ? std::ceil(units) : std::floor(units);
    case Rounding::kUp:
      return negative ? std::floor(units) : std::ceil(units);
  }
  return units;
}

}  // namespace

uint16_t RoundToSmall(double value, SmallFormat format, Rounding rounding) {
  const uint32_t one = 1u << format.mantissa_bits;
  const uint32_t infinity = ((1u << format.exponent_bits) - 1) << format.mantissa_bits;
  if (std::isnan(value)) return 0x7FFF;  // the device's canonical NaN
  const bool negative = std::signbit(value);
  const uint32_t sign = negative ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return static_cast<uint16_t>(sign | infinity);
  if (magnitude == 0) return static_cast<uint16_t>(sign);

  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  int exponent;
  std::frexp(magnitude, &exponent);
  exponent -= 1;
  if (exponent > bias) exponent = bias;  // at least infinity, found out below
  if (exponent < 1 - bias) exponent = 1 - bias;
  const double units = RoundUnits(
      std::ldexp(magnitude, format.mantissa_bits - exponent), rounding, negative);
  if (units >= 2.0 * one && exponent == bias) {
    const bool away = rounding == Rounding::kNearest ||
                      rounding == (negative ? Rounding::kDown : Rounding::kUp);
    return static_cast<uint16_t>(sign | (away ? infinity : infinity - 1));
  }
  // Adding the whole significand carries into the exponent field when it must.
  const uint32_t fields = static_cast<uint32_t>(exponent + bias - 1)
                          << format.mantissa_bits;
  return static_cast<uint16_t>(sign | (fields + static_cast<uint32_t>(units)));
}

}  // namespace jax_rawcuda
