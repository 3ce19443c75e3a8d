// diverged.cc: threads of a block that are in different places.
//
// A thread that has come to the end of a region arrives there: a barrier counts it, and
// it is no longer ready. Ready threads run until they arrive again; neighbours in one
// region share a call, so that a block whose warps have parted still runs work-item
// loops and not single threads. Who becomes ready is asked in rounds (release.cc). When
// nobody is and nobody can become so, that is a deadlock, which is reported in full:
// nothing about a thread is hidden on a stack.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "ffi/cpu/block/block.h"
#include "ffi/cpu/warp/collectives.h"

namespace jax_rawcuda {
namespace {

// How many groups of waiting threads a deadlock report lists.
constexpr size_t kListedGroups = 8;

}  // namespace

// Every living thread has just left a region: notes what each one waits for.
void Block::Diverge() {
  converged_ = false;
  ready_ = living_;
  for (const Range& range : ranges_) {
    for (int32_t thread = range.begin; thread < range.end; ++thread) {
      Arrive(static_cast<uint32_t>(thread));
    }
  }
}

Block::Step Block::RunDiverged() {
  while (true) {
    if (launch_->stopped()) return Step::kFaulted;
    if (living_count_ == 0) return Step::kDone;
    if (Reconverge()) return Step::kConverged;
    if (--regions_left_ == 0) return Step::kPaused;
    // Spinning threads come last: what they wait for may be about to happen. The lanes
    // that ask which lanes are active are answered when no other lane can join them.
    if (RunReady() || ResolveWarps() || ReleaseBarriers() || ReleaseCluster() ||
        AnswerActiveMasks()) {
      continue;
    }
    if (!ReleaseYields()) {
      if (cluster_ != nullptr && WaitsForCluster()) return Step::kWaiting;
      ReportDeadlock();
      return Step::kFaulted;
    }
    if (Stalled()) return Step::kStalled;
  }
}

// Files a ready thread that has come to the end of a region.
void Block::Arrive(uint32_t thread) {
  const uint32_t warp = thread / kWarpSize;
  const uint32_t lane = 1u << thread % kWarpSize;
  if (next_[thread] == kExited) {
    if (checks_ != nullptr) checks_->End(thread, region_);
    ready_[warp] &= ~lane;
    living_[warp] &= ~lane;
    --living_count_;
    progressed_ = true;
    yields_ = 0;
    return;
  }
  const SyncPoint& sync = SyncOf(thread);
  bool waits = true;
  switch (KindOf(sync)) {
    case SyncKind::kLoop:
      waits = false;
      break;
    case SyncKind::kBarrier: {
      if (std::string fault = BarrierFault(thread, sync); !fault.empty()) {
        launch_->Fail(std::move(fault));
        break;
      }
      const bool whole = sync.aux == 1 && sync.sub == 0;
      barriers_[BarrierId(thread, sync)].Arrive(thread, whole ? 0 : Input(1, thread));
      barriers_used_ = true;
      waits = static_cast<BarrierOperation>(sync.sub) != BarrierOperation::kArrive;
      break;
    }
    case SyncKind::kCluster:
      waits = sync.sub != 0;
      if (!waits) cluster_arrived_[warp] |= lane;
      barriers_used_ = true;
      break;
    default:
      break;
  }
  if (waits) ready_[warp] &= ~lane;
}

// Runs every ready thread once, neighbours with the same region in one call.
bool Block::RunReady() {
  const auto is_ready = [&](uint32_t thread) {
    return (ready_[thread / kWarpSize] >> thread % kWarpSize & 1) != 0;
  };
  const uint32_t count = context_.thread_count;
  bool any = false;
  uint32_t begin = 0;
  while (begin < count && !launch_->stopped()) {
    const uint32_t lanes = ready_[begin / kWarpSize] >> begin % kWarpSize;
    if (lanes == 0) {
      begin = (begin / kWarpSize + 1) * kWarpSize;
      continue;
    }
    begin += LowestBit(lanes);
    region_ = next_[begin];
    uint32_t end = begin + 1;
    while (end < count && is_ready(end) && next_[end] == region_) ++end;
    launch_->kernel.regions[static_cast<size_t>(region_)](
        &context_, static_cast<int32_t>(begin), static_cast<int32_t>(end));
    for (uint32_t thread = begin; thread < end; ++thread) Arrive(thread);
    begin = end;
    any = true;
  }
  return any;
}

// Goes back to running in step when all living threads are ready at one point.
bool Block::Reconverge() {
  for (uint32_t warp = 0; warp < warp_count_; ++warp) {
    if (ready_[warp] != living_[warp]) return false;
  }
  UpdateLiving();
  bool all_equal;
  region_ = PointOfLiving(&all_equal);
  converged_ = all_equal;
  return all_equal;
}

uint32_t Block::BarrierId(uint32_t thread, const SyncPoint& sync) const {
  if (sync.aux == 1 && sync.sub == 0) return 0;
  return Input(0, thread);
}

// What is wrong with the barrier that a thread names, or "".
std::string Block::BarrierFault(uint32_t thread, const SyncPoint& sync) const {
  const auto operation = static_cast<BarrierOperation>(sync.sub);
  if (sync.aux == 1 && operation == BarrierOperation::kSync) return "";
  const auto limit = static_cast<uint32_t>(sync.immediate0);
  const uint32_t id = Input(0, thread);
  const uint32_t count = Input(1, thread);
  const bool whole_warps = count % kWarpSize == 0 || limit > kPtxBarriers;
  const bool counted = operation != BarrierOperation::kArrive || count != 0;
  if (id < limit && whole_warps && counted) return "";
  const auto& texts = launch_->kernel.sync_texts;
  const std::string place = " in " + Describe(static_cast<int32_t>(thread)) + " at " +
                            texts.at(static_cast<size_t>(next_[thread]));
  if (id >= limit) {
    return "barrier number " + std::to_string(id) + place + "; 0 to " +
           std::to_string(limit - 1) + " is allowed.";
  }
  return "barrier of " + std::to_string(count) + " threads" + place +
         "; a multiple of " + std::to_string(kWarpSize) + " is needed.";
}

uint32_t Block::WaitingAt(uint32_t warp, SyncKind kind) const {
  uint32_t waiting = 0;
  for (uint32_t rest = living_[warp] & ~ready_[warp]; rest != 0; rest &= rest - 1) {
    const uint32_t lane = LowestBit(rest);
    if (KindOf(SyncOf(warp * kWarpSize + lane)) == kind) waiting |= 1u << lane;
  }
  return waiting;
}

void Block::ReportDeadlock() {
  struct Group {
    uint32_t first, count;
  };
  std::map<int32_t, Group> groups;
  for (uint32_t thread = 0; thread < context_.thread_count; ++thread) {
    if ((living_[thread / kWarpSize] >> thread % kWarpSize & 1) == 0) continue;
    ++groups.try_emplace(next_[thread], Group{thread, 0}).first->second.count;
  }
  const Extents position{context_.ctaid[0], context_.ctaid[1], context_.ctaid[2]};
  std::string text =
      "deadlock in block " + ToString(position) + ": no thread can continue.";
  size_t listed = 0;
  for (const auto& [point, group] : groups) {
    if (listed++ == kListedGroups) {
      text += " " + std::to_string(groups.size() - kListedGroups) + " more groups.";
      break;
    }
    const auto& texts = launch_->kernel.sync_texts;
    const auto index = static_cast<size_t>(point);
    text += " " + std::to_string(group.count) +
            (group.count == 1 ? " thread waits at " : " threads wait at ") +
            (index < texts.size() ? texts[index] : "an unknown place") +
            " (first: " + ToString(Unravel(group.first, launch_->block)) + ").";
  }
  const uint32_t exited = context_.thread_count - living_count_;
  if (exited != 0) text += " " + std::to_string(exited) + " have exited.";
  launch_->Fail(std::move(text));
}

}  // namespace jax_rawcuda
