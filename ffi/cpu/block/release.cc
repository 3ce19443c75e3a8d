// release.cc: which waiting threads of a diverged block may go on.
//
// The order of the questions matters. Collectives of a warp and barriers are answered
// when everybody they need has come, which no other thread can undo. Who is active, and
// who has spun long enough, depends on how far the others are: asked too early,
// __activemask() would name fewer lanes than the device does, and a spinning thread
// would use up its turns before the thread that it waits for has had one. So those come
// last, when nobody else can move.
#include <algorithm>

#include "ffi/cpu/block/block.h"
#include "ffi/cpu/block/cluster.h"
#include "ffi/cpu/warp/collectives.h"

namespace jax_rawcuda {

bool Block::ResolveWarps() {
  bool any = false;
  for (uint32_t warp = 0; warp < warp_count_; ++warp) any |= ResolveWarp(warp);
  return any;
}

// Resolves the collectives for which all living members wait.
bool Block::ResolveWarp(uint32_t warp) {
  uint32_t waiting = 0;
  for (uint32_t rest = living_[warp] & ~ready_[warp]; rest != 0; rest &= rest - 1) {
    const uint32_t lane = LowestBit(rest);
    if (IsWarpCollective(SyncOf(warp * kWarpSize + lane))) waiting |= 1u << lane;
  }
  bool any = false;
  while (waiting != 0) {
    const uint32_t lane = LowestBit(waiting);
    const SyncPoint& sync = SyncOf(warp * kWarpSize + lane);
    const uint32_t group = Members(sync, warp * kWarpSize + lane);
    bool complete = (group >> lane & 1) != 0 && (group & ~waiting) == 0;
    for (uint32_t rest = group; complete && rest != 0; rest &= rest - 1) {
      const uint32_t thread = warp * kWarpSize + LowestBit(rest);
      // The compiler may have copied one call in the source into several branches.
      complete = SameCollective(sync, SyncOf(thread)) &&
                 Members(SyncOf(thread), thread) == group;
    }
    if (complete) {
      if (checks_ != nullptr) CheckWarp(warp * kWarpSize + lane, group);
      Resolve(context_, sync, warp, group);
      ready_[warp] |= group;
      waiting &= ~group;
      any = true;
    } else {
      waiting &= ~(1u << lane);
    }
  }
  return any;
}

bool Block::ReleaseBarriers() {
  if (!barriers_used_) return false;
  bool any = false;
  for (uint32_t id = 0; id < kBarriers; ++id) {
    if (barriers_[id].idle() || !barriers_[id].Complete(living_, living_count_))
      continue;
    ReleaseBarrier(id);
    any = true;
  }
  return any;
}

void Block::ReleaseBarrier(uint32_t id) {
  auto operation = BarrierOperation::kSync;
  LaneMasks waiting = {};
  uint32_t count = 0;
  uint32_t holding = 0;
  for (uint32_t warp = 0; warp < warp_count_; ++warp) {
    uint32_t rest = WaitingAt(warp, SyncKind::kBarrier);
    for (; rest != 0; rest &= rest - 1) {
      const uint32_t lane = LowestBit(rest);
      const uint32_t thread = warp * kWarpSize + lane;
      const SyncPoint& sync = SyncOf(thread);
      if (BarrierId(thread, sync) != id) continue;
      waiting[warp] |= 1u << lane;
      ++count;
      if (sync.sub == 0) continue;
      operation = static_cast<BarrierOperation>(sync.sub);
      holding += Input(2, thread) & 1;
    }
  }
  if (checks_ != nullptr) CheckBarrier(id, waiting);
  const uint64_t result = BarrierResult(operation, holding, count);
  for (uint32_t warp = 0; warp < warp_count_; ++warp) {
    for (uint32_t rest = waiting[warp]; rest != 0; rest &= rest - 1) {
      const uint32_t thread = warp * kWarpSize + LowestBit(rest);
      if (SyncOf(thread).sub != 0) context_.sync_out[thread] = result;
    }
    ready_[warp] |= waiting[warp];
  }
  barriers_[id].Reset();
}

// Threads arrive at the barrier of a cluster and wait for it apart: a thread that waits
// may pass once its arrival has been cleared.
bool Block::ReleaseCluster() {
  if (!barriers_used_) return false;
  if (cluster_ != nullptr) {
    cluster_->CompleteBarrier();
  } else if (AllAtCluster()) {
    LeaveCluster();
  }
  bool any = false;
  for (uint32_t warp = 0; warp < warp_count_; ++warp) {
    const uint32_t passing =
        WaitingAt(warp, SyncKind::kCluster) & ~cluster_arrived_[warp];
    ready_[warp] |= passing;
    any |= passing != 0;
  }
  return any;
}

bool Block::AllAtCluster() const {
  for (uint32_t warp = 0; warp < warp_count_; ++warp) {
    if ((living_[warp] & ~cluster_arrived_[warp]) != 0) return false;
  }
  return true;
}

bool Block::AnyAtCluster() const {
  return std::any_of(cluster_arrived_.begin(), cluster_arrived_.end(),
                     [](uint32_t lanes) { return lanes != 0; });
}

bool Block::WaitsForCluster() const {
  for (uint32_t warp = 0; warp < warp_count_; ++warp) {
    if (WaitingAt(warp, SyncKind::kCluster) != 0) return true;
  }
  return false;
}

bool Block::MayPassCluster() const {
  for (uint32_t warp = 0; warp < warp_count_; ++warp) {
    if ((WaitingAt(warp, SyncKind::kCluster) & ~cluster_arrived_[warp]) != 0)
      return true;
  }
  return false;
}

bool Block::AnswerActiveMasks() {
  bool any = false;
  for (uint32_t warp = 0; warp < warp_count_; ++warp) {
    uint32_t asking = WaitingAt(warp, SyncKind::kActiveMask);
    while (asking != 0) {
      const uint32_t first = warp * kWarpSize + LowestBit(asking);
      uint32_t group = 0;
      for (uint32_t rest = asking; rest != 0; rest &= rest - 1) {
        const uint32_t lane = LowestBit(rest);
        if (next_[warp * kWarpSize + lane] == next_[first]) group |= 1u << lane;
      }
      Resolve(context_, SyncOf(first), warp, group);
      ready_[warp] |= group;
      asking &= ~group;
      any = true;
    }
  }
  return any;
}

bool Block::ReleaseYields() {
  bool any = false;
  for (uint32_t warp = 0; warp < warp_count_; ++warp) {
    const uint32_t spinning = WaitingAt(warp, SyncKind::kYield);
    ready_[warp] |= spinning;
    any |= spinning != 0;
  }
  return any;
}

}  // namespace jax_rawcuda
