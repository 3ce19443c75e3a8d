// clock.cc: meetings of some of a block's threads.
#include "ffi/cpu/check/clock.h"

namespace jax_rawcuda {
namespace {

template <typename Visit>
void ForEachThread(const LaneMasks& threads, Visit visit) {
  for (uint32_t warp = 0; warp < kMaxWarps; ++warp) {
    for (uint32_t rest = threads[warp]; rest != 0; rest &= rest - 1) {
      visit(warp * kWarpSize + LowestBit(rest));
    }
  }
}

}  // namespace

void BlockClock::SyncThreads(uint32_t time, const LaneMasks& threads) {
  std::array<uint32_t, kMaxWarps> known = {};
  Horizon acquired, fenced;
  ForEachThread(threads, [&](uint32_t thread) {
    const uint32_t* seen = &warps_seen_[thread * kMaxWarps];
    for (uint32_t warp = 0; warp < kMaxWarps; ++warp) {
      known[warp] = std::max(known[warp], seen[warp]);
    }
    acquired.Reach(acquired_[thread]);
    fenced.Reach(fenced_[thread]);
  });
  for (uint32_t warp = 0; warp < kMaxWarps; ++warp) {
    const uint32_t lanes = threads[warp];
    if (lanes == 0) continue;
    known[warp] = time;
    std::array<uint32_t, kWarpSize> mates = {};
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const uint32_t* seen =
          &lanes_seen_[(warp * kWarpSize + LowestBit(rest)) * kWarpSize];
      for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        mates[lane] =
            (lanes >> lane & 1) != 0 ? time : std::max(mates[lane], seen[lane]);
      }
    }
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      std::copy(mates.begin(), mates.end(),
                &lanes_seen_[(warp * kWarpSize + LowestBit(rest)) * kWarpSize]);
    }
  }
  ForEachThread(threads, [&](uint32_t thread) {
    std::copy(known.begin(), known.end(), &warps_seen_[thread * kMaxWarps]);
    acquired_[thread] = acquired;
    fenced_[thread] = fenced;
  });
}

}  // namespace jax_rawcuda
