// atomics.cc: atomic operations on 16-bit floating-point formats and pairs of them.
#include <atomic>
#include <cmath>
#include <cstdint>

#include "ffi/cpu/base/float16.h"
#include "ffi/cpu/helpers/symbols.h"

namespace jax_rawcuda {
namespace {

struct Half {
  static float Load(uint16_t bits) { return FloatFromFloat16(bits); }
  static uint16_t Store(float value) { return RoundToSmall(value, kFloat16); }
};
struct Bfloat {
  static float Load(uint16_t bits) { return FloatFromBfloat16(bits); }
  static uint16_t Store(float value) { return RoundToSmall(value, kBfloat16); }
};

float Add(float a, float b) { return a + b; }
float Min(float a, float b) { return std::fmin(a, b); }
float Max(float a, float b) { return std::fmax(a, b); }

using Operation = float (*)(float, float);

template <typename Format, Operation operation>
uint16_t Apply(uint16_t a, uint16_t b) {
  return Format::Store(operation(Format::Load(a), Format::Load(b)));
}

// Replaces the word at `address` by `update` of it and returns the old one. Words lie
// in the caller's arrays, so this is std::atomic_ref's job before C++20.
template <typename Word, typename Update>
Word Exchange(void* address, Update update) {
  static_assert(sizeof(std::atomic<Word>) == sizeof(Word));
  auto* const word = static_cast<std::atomic<Word>*>(address);
  Word old = word->load(std::memory_order_relaxed);
  while (!word->compare_exchange_weak(old, update(old))) {
  }
  return old;
}

template <typename Format, Operation operation>
uint16_t One(void* address, uint32_t value) {
  return Exchange<uint16_t>(address, [value](uint16_t old) {
    return Apply<Format, operation>(old, static_cast<uint16_t>(value));
  });
}

template <typename Format, Operation operation>
uint32_t Two(void* address, uint32_t values) {
  return Exchange<uint32_t>(address, [values](uint32_t old) {
    const uint32_t low = Apply<Format, operation>(static_cast<uint16_t>(old),
                                                  static_cast<uint16_t>(values));
    const uint32_t high = Apply<Format, operation>(static_cast<uint16_t>(old >> 16),
                                                   static_cast<uint16_t>(values >> 16));
    return high << 16 | low;
  });
}

}  // namespace

void AppendAtomics(SymbolTable& table) {
  table.insert(table.end(), {
                                {"jrc_atom_add_f16", AddressOf(&One<Half, Add>)},
                                {"jrc_atom_min_f16", AddressOf(&One<Half, Min>)},
                                {"jrc_atom_max_f16", AddressOf(&One<Half, Max>)},
                                {"jrc_atom_add_f16x2", AddressOf(&Two<Half, Add>)},
                                {"jrc_atom_min_f16x2", AddressOf(&Two<Half, Min>)},
                                {"jrc_atom_max_f16x2", AddressOf(&Two<Half, Max>)},
                                {"jrc_atom_add_bf16", AddressOf(&One<Bfloat, Add>)},
                                {"jrc_atom_min_bf16", AddressOf(&One<Bfloat, Min>)},
                                {"jrc_atom_max_bf16", AddressOf(&One<Bfloat, Max>)},
                                {"jrc_atom_add_bf16x2", AddressOf(&Two<Bfloat, Add>)},
                                {"jrc_atom_min_bf16x2", AddressOf(&Two<Bfloat, Min>)},
                                {"jrc_atom_max_bf16x2", AddressOf(&Two<Bfloat, Max>)},
                            });
}

}  // namespace jax_rawcuda
