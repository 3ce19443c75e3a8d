// matrix.h: matrix instructions, computed for a whole warp at a time.
#pragma once

#include <cstdint>

#include "ffi/cpu/context.h"
#include "ffi/replay_cpu.h"

namespace jax_rawcuda {

// Shapes and element types of mma.sync (SyncPoint::sub of kMma).
enum class MmaShape : int32_t {
  kM16n8k16F16 = 0,
  kM16n8k16Bf16 = 1,
  kM16n8k8Tf32 = 2,
  kM16n8k8F16 = 3,
  kM16n8k4Tf32 = 5,
  kM16n8k32S8 = 6,
};

// `first` is the warp's first thread. Operand slots: 0 is the member mask, then the
// registers of A, B and C.
void MultiplyMma(const Context& context, const SyncPoint& sync, uint32_t first);

// m16n16k16, f16 operands and f32 accumulator: 8 registers each.
void MultiplyWmma(const Context& context, uint32_t first);

// Operand slot 1 holds a row address per lane, the slots after it the data to store.
void LoadMatrices(const Context& context, const SyncPoint& sync, uint32_t first);
void StoreMatrices(const Context& context, const SyncPoint& sync, uint32_t first);

}  // namespace jax_rawcuda
