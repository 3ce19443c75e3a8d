// rounding.cc: arithmetic rounded towards zero, down or up.
#include <cfenv>
#include <cmath>
#include <cstdint>

#include "ffi/cpu/float16.h"
#include "ffi/cpu/symbols.h"

#ifdef __clang__
#pragma STDC FENV_ACCESS ON
#endif

namespace jax_rawcuda {
namespace {

// Directions as parameters of the templates below.
struct Zero {
  static constexpr int kMode = FE_TOWARDZERO;
  static constexpr Rounding kRounding = Rounding::kZero;
};
struct Down {
  static constexpr int kMode = FE_DOWNWARD;
  static constexpr Rounding kRounding = Rounding::kDown;
};
struct Up {
  static constexpr int kMode = FE_UPWARD;
  static constexpr Rounding kRounding = Rounding::kUp;
};

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
template <typename Direction, typename Result, typename Operation, typename... Values>
Result Rounded(Operation operation, Values... values) {
  const RoundingMode mode(Direction::kMode);
  const auto compute = [&](volatile Values... operands) -> Result {
    volatile Result result = operation(static_cast<Values>(operands)...);
    return result;
  };
  return compute(values...);
}

template <typename Direction, typename T>
T Add(T a, T b) {
  return Rounded<Direction, T>([](T x, T y) { return x + y; }, a, b);
}
template <typename Direction, typename T>
T Subtract(T a, T b) {
  return Rounded<Direction, T>([](T x, T y) { return x - y; }, a, b);
}
template <typename Direction, typename T>
T Multiply(T a, T b) {
  return Rounded<Direction, T>([](T x, T y) { return x * y; }, a, b);
}
template <typename Direction, typename T>
T Divide(T a, T b) {
  return Rounded<Direction, T>([](T x, T y) { return x / y; }, a, b);
}
template <typename Direction, typename T>
T SquareRoot(T a) {
  return Rounded<Direction, T>([](T x) { return std::sqrt(x); }, a);
}
template <typename Direction, typename T>
T MultiplyAdd(T a, T b, T c) {
  return Rounded<Direction, T>([](T x, T y, T z) { return std::fma(x, y, z); }, a, b,
                               c);
}
template <typename Direction, typename To, typename From>
To Convert(From a) {
  return Rounded<Direction, To>([](From x) { return static_cast<To>(x); }, a);
}
template <typename Direction, typename From>
uint16_t ToFloat16(From a) {
  return RoundToSmall(a, kFloat16, Direction::kRounding);
}
template <typename Direction, typename From>
uint16_t ToBfloat16(From a) {
  return RoundToSmall(a, kBfloat16, Direction::kRounding);
}

}  // namespace

// The entries of one direction; `tag` is PTX's name for it.
#define JRC_ROUNDED(tag, Direction)                                                   \
  {"jrc_fadd_" tag "_f32", AddressOf(&Add<Direction, float>)},                        \
      {"jrc_fsub_" tag "_f32", AddressOf(&Subtract<Direction, float>)},               \
      {"jrc_fmul_" tag "_f32", AddressOf(&Multiply<Direction, float>)},               \
      {"jrc_fdiv_" tag "_f32", AddressOf(&Divide<Direction, float>)},                 \
      {"jrc_sqrt_" tag "_f32", AddressOf(&SquareRoot<Direction, float>)},             \
      {"jrc_fma_" tag "_f32", AddressOf(&MultiplyAdd<Direction, float>)},             \
      {"jrc_fadd_" tag "_f64", AddressOf(&Add<Direction, double>)},                   \
      {"jrc_fsub_" tag "_f64", AddressOf(&Subtract<Direction, double>)},              \
      {"jrc_fmul_" tag "_f64", AddressOf(&Multiply<Direction, double>)},              \
      {"jrc_fdiv_" tag "_f64", AddressOf(&Divide<Direction, double>)},                \
      {"jrc_sqrt_" tag "_f64", AddressOf(&SquareRoot<Direction, double>)},            \
      {"jrc_fma_" tag "_f64", AddressOf(&MultiplyAdd<Direction, double>)},            \
      {"jrc_s2f_" tag "_f32", AddressOf(&Convert<Direction, float, int64_t>)},        \
      {"jrc_s2f_" tag "_f64", AddressOf(&Convert<Direction, double, int64_t>)},       \
      {"jrc_u2f_" tag "_f32", AddressOf(&Convert<Direction, float, uint64_t>)},       \
      {"jrc_u2f_" tag "_f64", AddressOf(&Convert<Direction, double, uint64_t>)},      \
      {"jrc_fptrunc_" tag "_f32_f64", AddressOf(&Convert<Direction, float, double>)}, \
      {"jrc_fptrunc_" tag "_f16_f32", AddressOf(&ToFloat16<Direction, float>)},       \
      {"jrc_fptrunc_" tag "_f16_f64", AddressOf(&ToFloat16<Direction, double>)}, {    \
    "jrc_fptrunc_" tag "_bf16_f32", AddressOf(&ToBfloat16<Direction, float>)          \
  }

void AppendRounding(SymbolTable& table) {
  table.insert(table.end(), {JRC_ROUNDED("rz", Zero)});
  table.insert(table.end(), {JRC_ROUNDED("rm", Down)});
  table.insert(table.end(), {JRC_ROUNDED("rp", Up)});
}

}  // namespace jax_rawcuda
