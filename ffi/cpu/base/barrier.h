// barrier.h: arrivals at one of a block's named barriers.
#pragma once

#include <array>
#include <cstdint>

#include "ffi/base/limits.h"
#include "ffi/cpu/base/bit_tricks.h"
#include "ffi/cpu/base/context.h"

namespace jax_rawcuda {

inline constexpr uint32_t kMaxWarps = kMaxThreads / kWarpSize;
inline constexpr uint32_t kPtxBarriers = 16;
// Tiles of several warps use the others:
// jax_rawcuda/cpu/include/jrc/groups/tile.h.
inline constexpr uint32_t kBarriers = 64;

// One bit per lane, one word per warp of the block.
using LaneMasks = std::array<uint32_t, kMaxWarps>;

// What a thread does at a barrier (SyncPoint::sub of kBarrier).
enum class BarrierOperation : int32_t {
  kSync = 0,
  kCount = 1,  // how many predicates hold
  kAnd = 2,
  kOr = 3,
  kArrive = 4,  // without waiting
};

// What a barrier hands back to `waiting` threads when the predicate of `holding` holds.
inline uint64_t BarrierResult(BarrierOperation operation, uint32_t holding,
                              uint32_t waiting) {
  switch (operation) {
    case BarrierOperation::kCount:
      return holding;
    case BarrierOperation::kAnd:
      return holding == waiting;
    default:
      return holding != 0;
  }
}

class Barrier {
 public:
  const LaneMasks& lanes() const { return lanes_; }
  bool idle() const { return arrived_ == 0; }

  // `expected` is the number of threads that complete the barrier; 0: all living ones.
  void Arrive(uint32_t thread, uint32_t expected) {
    ++arrived_;
    if (expected != 0) expected_ = expected;
    lanes_[thread / kWarpSize] |= 1u << thread % kWarpSize;
  }

  // Whether enough threads have arrived when `living` are left of `living_count`.
  bool Complete(const LaneMasks& living, uint32_t living_count) const {
    if (expected_ == 0) return arrived_ >= living_count;
    // The device counts whole warps, so lanes that will never come count as arrived.
    uint32_t present = arrived_;
    for (uint32_t warp = 0; warp < kMaxWarps; ++warp) {
      if (lanes_[warp] == 0) continue;
      present += CountBits(~living[warp] & ~lanes_[warp]);
    }
    return present >= expected_;
  }

  void Reset() { *this = Barrier(); }

 private:
  uint32_t arrived_ = 0;
  uint32_t expected_ = 0;
  LaneMasks lanes_ = {};
};

}  // namespace jax_rawcuda
