// rounding.cc: f64 arithmetic rounded towards zero, down or up. The narrower types are
// computed exactly in f64 by generated code, then rounded.
#include <cfenv>
#include <cmath>

#include "ffi/cpu/helpers/symbols.h"

#ifdef __clang__
#pragma STDC FENV_ACCESS ON
#endif

namespace jax_rawcuda {
namespace {

class RoundingMode {
 public:
  explicit RoundingMode(int mode) : saved_(std::fegetround()) { std::fesetround(mode); }
  ~RoundingMode() { std::fesetround(saved_); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  const int saved_;
};

// Operands and result pass through volatile variables, so that no compiler moves the
// operation out of the region with the changed mode, or does it at compile time.
template <int mode, typename Operation, typename... Values>
double Rounded(Operation operation, Values... values) {
  const RoundingMode rounding(mode);
  const auto compute = [&](volatile Values... operands) -> double {
    volatile double result = operation(static_cast<Values>(operands)...);
    return result;
  };
  return compute(values...);
}

template <int mode>
double Add(double a, double b) {
  return Rounded<mode>([](double x, double y) { return x + y; }, a, b);
}
template <int mode>
double Multiply(double a, double b) {
  return Rounded<mode>([](double x, double y) { return x * y; }, a, b);
}
template <int mode>
double Divide(double a, double b) {
  return Rounded<mode>([](double x, double y) { return x / y; }, a, b);
}
template <int mode>
double SquareRoot(double a) {
  return Rounded<mode>([](double x) { return std::sqrt(x); }, a);
}
template <int mode>
double MultiplyAdd(double a, double b, double c) {
  return Rounded<mode>([](double x, double y, double z) { return std::fma(x, y, z); },
                       a, b, c);
}

}  // namespace

// The entries of one direction; `tag` is PTX's name for it.
#define JRC_ROUNDED(tag, mode)                                  \
  {"jrc_fadd_" tag "_f64", AddressOf(&Add<mode>)},              \
      {"jrc_fmul_" tag "_f64", AddressOf(&Multiply<mode>)},     \
      {"jrc_fdiv_" tag "_f64", AddressOf(&Divide<mode>)},       \
      {"jrc_sqrt_" tag "_f64", AddressOf(&SquareRoot<mode>)}, { \
    "jrc_fma_" tag "_f64", AddressOf(&MultiplyAdd<mode>)        \
  }

void AppendRounding(SymbolTable& table) {
  table.insert(table.end(), {JRC_ROUNDED("rz", FE_TOWARDZERO)});
  table.insert(table.end(), {JRC_ROUNDED("rm", FE_DOWNWARD)});
  table.insert(table.end(), {JRC_ROUNDED("rp", FE_UPWARD)});
}

}  // namespace jax_rawcuda
