// barrier_checks.cc: threads that meet at a barrier from different places, or miss it.
#include <optional>
#include <string>

#include "ffi/cpu/block/block.h"
#include "ffi/cpu/block/cluster.h"
#include "ffi/cpu/warp/collectives.h"

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

std::optional<size_t> Block::BarrierOf(uint32_t thread) const {
  if (next_[thread] == kExited || KindOf(SyncOf(thread)) != SyncKind::kBarrier ||
      !WaitsForBlock(thread)) {
    return std::nullopt;
  }
  return static_cast<size_t>(next_[thread]);
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

// Threads that have ended need not come to where `waiting` is, unless they have gone
// past it.
void Block::CheckSkippers(uint32_t waiting) {
  if (living_count_ == launch_->thread_count) return;
  for (uint32_t warp = 0; warp < warp_count_; ++warp) {
    CheckSkippers("__syncthreads", waiting, warp, ~0u, kAdvice);
  }
}

// The living lanes that the member mask of `waiting` names are about to go on.
void Block::CheckWarp(uint32_t waiting, uint32_t group) {
  const SyncPoint& sync = SyncOf(waiting);
  if (KindOf(sync) == SyncKind::kWarpSync) {
    checks_->SyncWarp(waiting / kWarpSize, group);
  }
  if (living_count_ == launch_->thread_count) return;
  const uint32_t mask = sync.full_mask ? ~0u : Input(0, waiting);
  CheckSkippers("warp operation", waiting, waiting / kWarpSize, mask,
                ". All lanes that a mask names must come to the same operation: move "
                "it out of the branch or loop, or leave the lanes out of the mask.");
}

void Block::CheckSkippers(const char* what, uint32_t waiting, uint32_t warp,
                          uint32_t lanes, const char* advice) {
  const uint32_t left = launch_->thread_count - warp * kWarpSize;
  if (left < kWarpSize) lanes &= (1u << left) - 1;
  lanes &= ~living_[warp];
  const auto point = static_cast<size_t>(next_[waiting]);
  for (; lanes != 0; lanes &= lanes - 1) {
    const uint32_t thread = warp * kWarpSize + LowestBit(lanes);
    const std::optional<uint32_t> past = checks_->WentPast(point, thread);
    if (!past) continue;
    ReportSkipper(what, waiting, Describe(static_cast<int32_t>(thread)), *past, advice);
    return;
  }
}

void Block::ReportSkipper(const char* what, uint32_t waiting,
                          const std::string& skipper, uint32_t site,
                          const char* advice) {
  const auto point = static_cast<size_t>(next_[waiting]);
  launch_->Fail("divergent " + std::string(what) + ": " +
                Describe(static_cast<int32_t>(waiting)) + " waits at " +
                PlaceOf(launch_->kernel.sync_texts[point]) + " but " + skipper +
                " has gone past it and ended" + launch_->checks->At(site) + advice);
}

std::optional<uint32_t> Block::FirstAtCluster() const {
  for (uint32_t warp = 0; warp < warp_count_; ++warp) {
    if (const uint32_t lanes = WaitingAt(warp, SyncKind::kCluster); lanes != 0) {
      return warp * kWarpSize + LowestBit(lanes);
    }
  }
  return std::nullopt;
}

bool Block::CheckSkippers(uint32_t waiting, const Block& other) {
  const auto point = static_cast<size_t>(next_[waiting]);
  for (uint32_t thread = 0; thread < launch_->thread_count; ++thread) {
    if (other.next_[thread] != kExited) continue;
    const std::optional<uint32_t> past = other.checks_->WentPast(point, thread);
    if (!past) continue;
    ReportSkipper("cluster barrier", waiting,
                  other.Describe(static_cast<int32_t>(thread)), *past,
                  ". All threads of a cluster must come to the same barrier: move it "
                  "out of the branch or loop.");
    return true;
  }
  return false;
}

// The barrier of a cluster is about to let its threads go.
void Cluster::CheckSkippers() {
  for (uint32_t rank = 0; rank < size(); ++rank) {
    if (done_[rank]) continue;
    const std::optional<uint32_t> waiting = blocks_[rank]->FirstAtCluster();
    if (!waiting) continue;
    for (const std::unique_ptr<Block>& other : blocks_) {
      if (blocks_[rank]->CheckSkippers(*waiting, *other)) return;
    }
    return;
  }
}

}  // namespace jax_rawcuda
