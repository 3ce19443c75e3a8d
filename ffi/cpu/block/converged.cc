// converged.cc: threads of a block that move in step.
//
// A region has run and all living threads want to go on in the same one: one comparison
// per thread finds that out, in a loop that the compiler vectorises. What they have
// synchronised on is then done for all at once, with no record of who has arrived. It
// is done for all of them or for none: where a member mask, a barrier's number or an
// earlier arrival says that some threads belong elsewhere, nothing has been changed
// yet, and the block diverges from the same state.
#include <algorithm>

#include "ffi/cpu/block/block.h"
#include "ffi/cpu/warp/collectives.h"

namespace jax_rawcuda {
namespace {

// Threads are at several points.
constexpr int32_t kNowhere = -2;

}  // namespace

Block::Step Block::RunConverged() {
  const HostKernel& kernel = launch_->kernel;
  while (true) {
    const RegionFunction region = kernel.regions[static_cast<size_t>(region_)];
    for (const Range& range : ranges_) region(&context_, range.begin, range.end);
    if (launch_->stopped()) return Step::kFaulted;
    const int32_t point = CommonPoint();
    if (point == kExited) return Step::kDone;
    if (point == kNowhere || !PassConverged(kernel.syncs[static_cast<size_t>(point)])) {
      Diverge();
      return Step::kDiverged;
    }
    region_ = point;
    if (KindOf(kernel.syncs[static_cast<size_t>(point)]) == SyncKind::kYield &&
        Stalled()) {
      return Step::kStalled;
    }
    if (--regions_left_ == 0) return Step::kPaused;
  }
}

int32_t Block::CommonPoint() {
  bool all_equal;
  int32_t point = PointOfLiving(&all_equal);
  if (all_equal) return point;
  UpdateLiving();
  if (living_count_ == 0) return kExited;
  point = PointOfLiving(&all_equal);
  return all_equal ? point : kNowhere;
}

int32_t Block::PointOfLiving(bool* all_equal) const {
  const int32_t first = next_[ranges_.front().begin];
  int32_t difference = 0;
  for (const Range& range : ranges_) {
    for (int32_t thread = range.begin; thread < range.end; ++thread) {
      difference |= next_[thread] ^ first;
    }
  }
  *all_equal = difference == 0;
  return first;
}

void Block::UpdateLiving() {
  uint32_t count = 0;
  ranges_.clear();
  for (uint32_t warp = 0; warp < warp_count_; ++warp) {
    uint32_t living = 0;
    for (uint32_t lanes = living_[warp]; lanes != 0; lanes &= lanes - 1) {
      const uint32_t lane = LowestBit(lanes);
      const int32_t thread = static_cast<int32_t>(warp * kWarpSize + lane);
      if (next_[thread] == kExited) {
        if (checks_ != nullptr) checks_->End(thread, region_);
        continue;
      }
      living |= 1u << lane;
      if (ranges_.empty() || ranges_.back().end != thread) {
        ranges_.push_back({thread, thread});
      }
      ++ranges_.back().end;
    }
    living_[warp] = living;
    count += CountBits(living);
  }
  if (count == living_count_) return;
  living_count_ = count;
  progressed_ = true;
  yields_ = 0;
}

bool Block::PassConverged(const SyncPoint& sync) {
  switch (KindOf(sync)) {
    case SyncKind::kLoop:
    case SyncKind::kYield:
      return true;
    case SyncKind::kBarrier:
      if (!PassBarrier(sync)) return false;
      if (checks_ != nullptr) {
        CheckSkippers(static_cast<uint32_t>(ranges_.front().begin));
        checks_->SyncBlock();
      }
      return true;
    case SyncKind::kCluster:
      if (cluster_ != nullptr) return false;
      // Of one block: everybody has arrived.
      if (std::any_of(cluster_arrived_.begin(), cluster_arrived_.end(),
                      [](uint32_t lanes) { return lanes != 0; })) {
        return false;
      }
      if (checks_ != nullptr) checks_->SyncBlock();
      return true;
    case SyncKind::kActiveMask:
      for (uint32_t warp = 0; warp < warp_count_; ++warp) {
        if (living_[warp] != 0) Resolve(context_, sync, warp, living_[warp]);
      }
      return true;
    default:
      return PassWarps(sync);
  }
}

bool Block::PassBarrier(const SyncPoint& sync) {
  const auto operation = static_cast<BarrierOperation>(sync.sub);
  if (operation == BarrierOperation::kArrive) return false;
  const uint32_t first = static_cast<uint32_t>(ranges_.front().begin);
  if (!BarrierFault(first, sync).empty()) return false;
  const uint32_t id = BarrierId(first, sync);
  if (barriers_used_ && !barriers_[id].idle()) return false;
  if (sync.aux == 1 && operation == BarrierOperation::kSync) return true;

  uint64_t differences = 0;
  uint32_t expected = 0;
  uint32_t holding = 0;
  for (const Range& range : ranges_) {
    for (auto t = static_cast<uint32_t>(range.begin); t < uint32_t(range.end); ++t) {
      differences |= BarrierId(t, sync) ^ id;
      expected |= Input(1, t);
      if (operation != BarrierOperation::kSync) holding += Input(2, t) & 1;
    }
  }
  if (differences != 0 || expected != 0) return false;
  if (operation == BarrierOperation::kSync) return true;
  const uint64_t result = BarrierResult(operation, holding, living_count_);
  std::fill_n(context_.sync_out, context_.thread_count, result);
  return true;
}

// Lets every group of lanes pass, or none of them.
bool Block::PassWarps(const SyncPoint& sync) {
  if (!sync.full_mask) {
    for (uint32_t warp = 0; warp < warp_count_; ++warp) {
      if (!MasksAgree(warp)) return false;
    }
  }
  for (uint32_t warp = 0; warp < warp_count_; ++warp) {
    uint32_t waiting = living_[warp];
    while (waiting != 0) {
      const uint32_t first = warp * kWarpSize + LowestBit(waiting);
      const uint32_t group = Members(sync, first);
      if (checks_ != nullptr) CheckWarp(first, group);
      Resolve(context_, sync, warp, group);
      waiting &= ~group;
    }
  }
  return true;
}

// Whether the member masks of a warp's lanes split it into disjoint groups.
bool Block::MasksAgree(uint32_t warp) const {
  uint32_t waiting = living_[warp];
  while (waiting != 0) {
    const uint32_t lane = LowestBit(waiting);
    const uint32_t group = Input(0, warp * kWarpSize + lane) & living_[warp];
    if ((group >> lane & 1) == 0 || (group & ~waiting) != 0) return false;
    for (uint32_t rest = group; rest != 0; rest &= rest - 1) {
      const uint32_t thread = warp * kWarpSize + LowestBit(rest);
      if ((Input(0, thread) & living_[warp]) != group) return false;
    }
    waiting &= ~group;
  }
  return true;
}

}  // namespace jax_rawcuda
