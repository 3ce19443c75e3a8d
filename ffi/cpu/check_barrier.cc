// check_barrier.cc: threads that meet at a barrier from different places, or miss it.
#include <optional>
#include <string>

#include "ffi/cpu/block.h"

namespace jax_rawcuda {
namespace {

constexpr char kAdvice[] =
    ". All threads of a block must come to the same barrier: move it out of the branch "
    "or loop.";

std::string PlaceOf(const std::string& text) { return text.substr(0, text.find(": ")); }

}  // namespace

// Barrier `id` is about to let `waiting` threads go.
void Block::CheckBarrier(uint32_t id, const LaneMasks& waiting) {
  LaneMasks met = barriers_[id].lanes();
  uint32_t first = kMaxThreads;
  bool whole = true;
  for (uint32_t warp = 0; warp < warp_count_; ++warp) {
    whole &= waiting[warp] == living_[warp];
    met[warp] = (met[warp] | waiting[warp]) & living_[warp];
    for (uint32_t rest = waiting[warp]; rest != 0; rest &= rest - 1) {
      const uint32_t thread = warp * kWarpSize + LowestBit(rest);
      if (!WaitsForBlock(thread)) continue;
      if (first == kMaxThreads) first = thread;
      if (next_[thread] == next_[first]) continue;
      ReportDivergence(first, thread);
      return;
    }
  }
  if (first != kMaxThreads) CheckSkippers(first);
  if (whole) {
    checks_->SyncBlock();
  } else {
    checks_->SyncThreads(met);
  }
}

// Named barriers may be meant to be reached from several places; __syncthreads() and
// its reductions may not.
bool Block::WaitsForBlock(uint32_t thread) const {
  const SyncPoint& sync = SyncOf(thread);
  const auto operation = static_cast<BarrierOperation>(sync.sub);
  if (operation == BarrierOperation::kArrive || BarrierId(thread, sync) != 0) {
    return false;
  }
  return (sync.aux == 1 && operation == BarrierOperation::kSync) ||
         Input(1, thread) == 0;
}

// Compilers may copy a barrier, but not into branches that threads take differently: so
// one instruction is one barrier.
void Block::ReportDivergence(uint32_t first, uint32_t other) {
  const auto& texts = launch_->kernel.sync_texts;
  const std::string here = PlaceOf(texts[static_cast<size_t>(next_[first])]);
  const std::string there = PlaceOf(texts[static_cast<size_t>(next_[other])]);
  launch_->Fail("divergent __syncthreads: " + Describe(static_cast<int32_t>(first)) +
                " waits at " + here + " and " + Describe(static_cast<int32_t>(other)) +
                " at " + there + (here == there ? ", reached by another branch" : "") +
                kAdvice);
}

// Threads that have ended need not come to the barrier where `waiting` is, unless they
// have gone past it.
void Block::CheckSkippers(uint32_t waiting) {
  if (living_count_ == launch_->thread_count) return;
  const auto point = static_cast<size_t>(next_[waiting]);
  const std::optional<uint32_t> skipper = checks_->FindSkipper(point, living_);
  if (!skipper) return;
  launch_->Fail("divergent __syncthreads: " + Describe(static_cast<int32_t>(waiting)) +
                " waits at " + PlaceOf(launch_->kernel.sync_texts[point]) + " but " +
                Describe(static_cast<int32_t>(*skipper)) +
                " has gone past it and ended" +
                launch_->checks->At(checks_->last_site(*skipper)) + kAdvice);
}

}  // namespace jax_rawcuda
