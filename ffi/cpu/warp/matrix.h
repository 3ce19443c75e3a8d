// matrix.h: matrix instructions, computed for a whole warp at a time.
#pragma once

#include <cstdint>

#include "ffi/cpu/base/context.h"
#include "ffi/cpu/base/kernel.h"

namespace jax_rawcuda {

// What one element of a matrix is; jax_rawcuda/cpu/sync/products.py mirrors it.
enum class ElementKind : uint8_t {
  kF16 = 0,
  kBf16 = 1,
  kTf32 = 2,
  kF64 = 3,
  kS8 = 4,
  kU8 = 5,
  kS4 = 6,
  kU4 = 7,
  kBitsXor = 8,  // 32 bits, multiplied by counting the ones of the exclusive or
  kBitsAnd = 9,
  kE4m3 = 10,
  kE5m2 = 11,
  kF32 = 12,
  kS32 = 13,
};

// D = A B + C by the lanes of the warp whose first thread is `first`; of kind kMma or
// kWmma, which differ in where a fragment holds its elements. Operand slots: 0 is the
// member mask, then the registers of A, B and C.
void MultiplyMatrices(const Context& context, const SyncPoint& sync, uint32_t first);

// Operand slot 1 holds a row address per lane, the slots after it the data to store.
void LoadMatrices(const Context& context, const SyncPoint& sync, uint32_t first);
void StoreMatrices(const Context& context, const SyncPoint& sync, uint32_t first);

// Operand slot 1 holds two elements of an 8x8 matrix per lane.
void TransposeMatrix(const Context& context, uint32_t first);

}  // namespace jax_rawcuda
