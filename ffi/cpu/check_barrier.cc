// check_barrier.cc: threads that meet at a barrier from different places.
#include <string>
#include <utility>

#include "ffi/cpu/block.h"

namespace jax_rawcuda {
namespace {

std::string PlaceOf(const std::string& text) { return text.substr(0, text.find(": ")); }

}  // namespace

// Barrier `id` is about to let `waiting` threads go. Compilers may copy one call in the
// source, but not move it to another line.
void Block::CheckBarrier(uint32_t id, const LaneMasks& waiting) {
  const auto& texts = launch_->kernel.sync_texts;
  LaneMasks met = barriers_[id].lanes();
  uint32_t first = kMaxThreads;
  bool whole = true;
  for (uint32_t warp = 0; warp < warp_count_; ++warp) {
    whole &= waiting[warp] == living_[warp];
    met[warp] = (met[warp] | waiting[warp]) & living_[warp];
    for (uint32_t rest = waiting[warp]; rest != 0; rest &= rest - 1) {
      const uint32_t thread = warp * kWarpSize + LowestBit(rest);
      // Named barriers may be meant to be reached from several places.
      if (SyncOf(thread).aux != 1 || SyncOf(thread).sub != 0) continue;
      if (first == kMaxThreads) first = thread;
      const std::string here = PlaceOf(texts[static_cast<size_t>(next_[first])]);
      const std::string there = PlaceOf(texts[static_cast<size_t>(next_[thread])]);
      if (here == there) continue;
      launch_->Fail("divergent __syncthreads: " +
                    Describe(static_cast<int32_t>(first)) + " waits at " + here +
                    " and " + Describe(static_cast<int32_t>(thread)) + " at " + there +
                    ". All threads of a block must come to the same barrier: move it "
                    "out of the branch.");
      return;
    }
  }
  if (whole) {
    checks_->SyncBlock();
  } else {
    checks_->SyncThreads(met);
  }
}

}  // namespace jax_rawcuda
