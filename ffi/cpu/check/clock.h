// clock.h: which accesses happen before which, for the threads of one block.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ffi/cpu/base/barrier.h"
#include "ffi/cpu/check/shadow.h"

namespace jax_rawcuda {

// Two times: accesses of the block's own threads before `in_block`, and of any thread
// before `anywhere`.
struct Horizon {
  uint32_t anywhere = 0;
  uint32_t in_block = 0;

  void Reach(const Horizon& other) {
    anywhere = std::max(anywhere, other.anywhere);
    in_block = std::max(in_block, other.in_block);
  }
};

// A checked launch runs on one host thread, so one counter dates everything in it. A
// synchronisation takes the next time; it orders the accesses before it.
class BlockClock {
 public:
  BlockClock()
      : warps_seen_(size_t{kMaxThreads} * kMaxWarps),
        lanes_seen_(size_t{kMaxThreads} * kWarpSize) {}

  void Begin(uint32_t time) {
    begin_ = barrier_ = time;
    if (passed_on_) {
      acquired_.fill({});
      fenced_.fill({});
      passed_on_ = false;
    }
  }
  uint32_t begin() const { return begin_; }

  // Whether an access of this launch is ordered before one that `thread` makes now.
  bool Ordered(const Mark& mark, uint32_t block, uint32_t thread) const {
    if (mark.time < acquired_[thread].anywhere) return true;
    if (mark.block != block) return mark.block == kNoBlock;
    if (mark.thread == thread || mark.time < barrier_) return true;
    if (mark.time < acquired_[thread].in_block) return true;
    const uint32_t warp = mark.thread / kWarpSize;
    return mark.time < (warp == thread / kWarpSize
                            ? lanes_seen_[thread * kWarpSize + mark.thread % kWarpSize]
                            : warps_seen_[thread * kMaxWarps + warp]);
  }

  // All living threads have met.
  void SyncBlock(uint32_t time) {
    barrier_ = time;
    if (!passed_on_) return;
    acquired_.fill(Latest(acquired_));
    fenced_.fill(Latest(fenced_));
  }

  // All living threads of all blocks of a cluster have met.
  void SyncCluster(uint32_t time) {
    barrier_ = time;
    acquired_.fill({time, time});
    passed_on_ = true;
  }

  // Some lanes of a warp have met: each now knows what any of them knew.
  void SyncWarp(uint32_t time, uint32_t warp, uint32_t lanes) {
    LaneMasks threads = {};
    threads[warp] = lanes;
    SyncThreads(time, threads);
  }

  // Some threads of the block have met.
  void SyncThreads(uint32_t time, const LaneMasks& threads);

  // Memory fences and what they are for: values handed on through atomic operations.
  void Fence(const Horizon& time, uint32_t thread) {
    fenced_[thread].Reach(time);
    passed_on_ = true;
  }
  const Horizon& fenced(uint32_t thread) const { return fenced_[thread]; }
  const Horizon& acquired(uint32_t thread) const { return acquired_[thread]; }
  void Acquire(const Horizon& time, uint32_t thread) {
    acquired_[thread].Reach(time);
    passed_on_ = true;
  }

 private:
  using Horizons = std::array<Horizon, kMaxThreads>;

  static Horizon Latest(const Horizons& all) {
    Horizon latest;
    for (const Horizon& one : all) latest.Reach(one);
    return latest;
  }

  uint32_t begin_ = 0;
  uint32_t barrier_ = 0;  // when all threads met last
  // Times of the last meeting of a thread with each warp, and with each lane of its
  // own.
  std::vector<uint32_t> warps_seen_, lanes_seen_;
  bool passed_on_ = false;  // whether the arrays below hold anything
  Horizons acquired_ = {};  // everything older is seen
  Horizons fenced_ = {};    // everything older may be seen
};

}  // namespace jax_rawcuda
