// math_library.cc: functions of the C library and the compiler's run-time library that
// LLVM's code generator may call. A name it cannot resolve would be a null pointer.
#include <math.h>
#include <string.h>

#include <cstdint>

#include "ffi/cpu/base/float16.h"
#include "ffi/cpu/helpers/symbols.h"

#if defined(__SIZEOF_INT128__)
extern "C" {
__int128 __divti3(__int128, __int128);
__int128 __modti3(__int128, __int128);
__int128 __multi3(__int128, __int128);
unsigned __int128 __udivti3(unsigned __int128, unsigned __int128);
unsigned __int128 __umodti3(unsigned __int128, unsigned __int128);
}
#endif

namespace jax_rawcuda {
namespace {

using Unary = double(double);
using UnaryFloat = float(float);
using Binary = double(double, double);
using BinaryFloat = float(float, float);

double RoundEven(double value) { return nearbyint(value); }
float RoundEvenFloat(float value) { return nearbyintf(value); }
double Exp10(double value) { return pow(10.0, value); }  // not in every C library
float Exp10Float(float value) { return static_cast<float>(pow(10.0, value)); }

// Generated code passes a 16-bit float in the low bits of a float register.
float ExtendHalf(float half) {
  return FloatFromFloat16(static_cast<uint16_t>(BitsFromFloat(half)));
}
template <const SmallFormat& format, typename From>
float Truncate(From value) {
  return FloatFromBits(RoundToSmall(value, format));
}

}  // namespace

#define JRC_UNARY(name) \
  {#name, AddressOf<Unary>(&::name)}, { #name "f", AddressOf<UnaryFloat>(&::name##f) }
#define JRC_BINARY(name) \
  {#name, AddressOf<Binary>(&::name)}, { #name "f", AddressOf<BinaryFloat>(&::name##f) }
// A function of any other shape: Result(..., Value, ...) for double and float.
#define JRC_SHAPED(name, shape, float_shape) \
  {#name, AddressOf<shape>(&::name)}, { #name "f", AddressOf<float_shape>(&::name##f) }

void AppendMathLibrary(SymbolTable& table) {
  table.insert(
      table.end(),
      {
          JRC_UNARY(acos),
          JRC_UNARY(acosh),
          JRC_UNARY(asin),
          JRC_UNARY(asinh),
          JRC_UNARY(atan),
          JRC_UNARY(atanh),
          JRC_UNARY(cbrt),
          JRC_UNARY(ceil),
          JRC_UNARY(cos),
          JRC_UNARY(cosh),
          JRC_UNARY(erf),
          JRC_UNARY(erfc),
          JRC_UNARY(exp),
          JRC_UNARY(exp2),
          JRC_UNARY(expm1),
          JRC_UNARY(fabs),
          JRC_UNARY(floor),
          JRC_UNARY(lgamma),
          JRC_UNARY(log),
          JRC_UNARY(log10),
          JRC_UNARY(log1p),
          JRC_UNARY(log2),
          JRC_UNARY(logb),
          JRC_UNARY(nearbyint),
          JRC_UNARY(rint),
          JRC_UNARY(round),
          JRC_UNARY(sin),
          JRC_UNARY(sinh),
          JRC_UNARY(sqrt),
          JRC_UNARY(tan),
          JRC_UNARY(tanh),
          JRC_UNARY(tgamma),
          JRC_UNARY(trunc),
          JRC_BINARY(atan2),
          JRC_BINARY(copysign),
          JRC_BINARY(fdim),
          JRC_BINARY(fmax),
          JRC_BINARY(fmin),
          JRC_BINARY(fmod),
          JRC_BINARY(hypot),
          JRC_BINARY(nextafter),
          JRC_BINARY(pow),
          JRC_BINARY(remainder),
          JRC_SHAPED(fma, double(double, double, double), float(float, float, float)),
          JRC_SHAPED(ilogb, int(double), int(float)),
          JRC_SHAPED(ldexp, double(double, int), float(float, int)),
          JRC_SHAPED(llrint, long long(double), long long(float)),
          JRC_SHAPED(llround, long long(double), long long(float)),
          JRC_SHAPED(lrint, long(double), long(float)),
          JRC_SHAPED(lround, long(double), long(float)),
          JRC_SHAPED(scalbn, double(double, int), float(float, int)),
          {"roundeven", AddressOf(&RoundEven)},
          {"roundevenf", AddressOf(&RoundEvenFloat)},
          {"exp10", AddressOf(&Exp10)},
          {"exp10f", AddressOf(&Exp10Float)},
          {"__extendhfsf2", AddressOf(&ExtendHalf)},
          {"__truncsfhf2", AddressOf(&Truncate<kFloat16, float>)},
          {"__truncdfhf2", AddressOf(&Truncate<kFloat16, double>)},
          {"__truncsfbf2", AddressOf(&Truncate<kBfloat16, float>)},
          {"__truncdfbf2", AddressOf(&Truncate<kBfloat16, double>)},
          {"memcpy", AddressOf(&::memcpy)},
          {"memmove", AddressOf(&::memmove)},
          {"memset", AddressOf(&::memset)},
      });
#if defined(_MSC_VER)
  table.insert(table.end(), {{"j0", AddressOf(&::_j0)},
                             {"j1", AddressOf(&::_j1)},
                             {"jn", AddressOf(&::_jn)},
                             {"y0", AddressOf(&::_y0)},
                             {"y1", AddressOf(&::_y1)},
                             {"yn", AddressOf(&::_yn)}});
#else
  table.insert(table.end(), {{"j0", AddressOf<Unary>(&::j0)},
                             {"j1", AddressOf<Unary>(&::j1)},
                             {"jn", AddressOf<double(int, double)>(&::jn)},
                             {"y0", AddressOf<Unary>(&::y0)},
                             {"y1", AddressOf<Unary>(&::y1)},
                             {"yn", AddressOf<double(int, double)>(&::yn)}});
#endif
#if defined(__GLIBC__)
  table.insert(table.end(), {
                                JRC_SHAPED(sincos, void(double, double*, double*),
                                           void(float, float*, float*)),
                                {"j0f", AddressOf<UnaryFloat>(&::j0f)},
                                {"j1f", AddressOf<UnaryFloat>(&::j1f)},
                                {"jnf", AddressOf<float(int, float)>(&::jnf)},
                                {"y0f", AddressOf<UnaryFloat>(&::y0f)},
                                {"y1f", AddressOf<UnaryFloat>(&::y1f)},
                                {"ynf", AddressOf<float(int, float)>(&::ynf)},
                            });
#endif
#if defined(__SIZEOF_INT128__)
  table.insert(table.end(), {
                                JRC_SYMBOL(__divti3),
                                JRC_SYMBOL(__modti3),
                                JRC_SYMBOL(__multi3),
                                JRC_SYMBOL(__udivti3),
                                JRC_SYMBOL(__umodti3),
                            });
#endif
}

}  // namespace jax_rawcuda
