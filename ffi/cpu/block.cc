// block.cc: storage of a block, and threads that move in step.
#include "ffi/cpu/block.h"

#include <algorithm>

#include "ffi/cpu/collectives.h"

namespace jax_rawcuda {
namespace {

// Rounds of spinning after which other blocks get a turn.
constexpr uint32_t kPatience = 3;

// Regions that a block runs before others get a turn: a loop of barriers may be waiting
// for another block, and nothing in it says so.
constexpr uint32_t kRegionsPerTurn = 1000;

// Threads are at several points.
constexpr int32_t kNowhere = -2;

// Vectorised loads may reach this far beyond the last element.
constexpr size_t kSlack = 64;

}  // namespace

bool Block::Prepare(LaunchState& launch) {
  launch_ = &launch;
  const HostKernel& kernel = launch.kernel;
  const size_t threads = launch.thread_count;
  const size_t stride = (threads + 15) / 16 * 16;
  const bool stored =
      shared_.Reserve(launch.total_shared + kSlack) &&
      local_.Reserve(static_cast<size_t>(kernel.frame_bytes) * threads + kSlack) &&
      slots_.Reserve(static_cast<size_t>(kernel.slot_bytes) * stride + kSlack) &&
      sync_in_.Reserve(static_cast<size_t>(kernel.sync_inputs) * stride * 8 + kSlack) &&
      sync_out_.Reserve(static_cast<size_t>(kernel.sync_outputs) * stride * 8 + kSlack);
  if (!stored) return false;

  context_ = Context();
  context_.params = launch.params;
  context_.shared = shared_.data();
  context_.local = local_.data();
  context_.next = next_;
  context_.slots = slots_.data();
  context_.sync_in = reinterpret_cast<uint64_t*>(sync_in_.data());
  context_.sync_out = reinterpret_cast<uint64_t*>(sync_out_.data());
  for (int axis = 0; axis < 3; ++axis) {
    context_.ntid[axis] = launch.block[axis];
    context_.nctaid[axis] = launch.grid[axis];
    context_.cluster_nctaid[axis] = 1;
  }
  context_.thread_count = launch.thread_count;
  context_.thread_stride = static_cast<uint32_t>(stride);
  context_.dynamic_shared = launch.dynamic_shared;
  context_.total_shared = launch.total_shared;
  context_.block = this;
  context_.grid_id = launch.id;
  context_.cluster_size = 1;
  context_.grid_workspace = launch.grid_workspace;
  warp_count_ = (launch.thread_count + kWarpSize - 1) / kWarpSize;
  return true;
}

void Block::Begin(uint64_t index) {
  const Extents position = Unravel(index, launch_->grid);
  std::copy(position.begin(), position.end(), context_.ctaid);
  context_.spin_budget = launch_->kernel.spin_budget;
  if (launch_->kernel.regions.size() == 1) return;

  region_ = 0;
  together_ = true;
  yields_ = 0;
  progressed_ = false;
  living_count_ = launch_->thread_count;
  living_.fill(0);
  for (uint32_t thread = 0; thread < living_count_; thread += kWarpSize) {
    const uint32_t lanes = std::min(living_count_ - thread, kWarpSize);
    living_[thread / kWarpSize] = ~0u >> (kWarpSize - lanes);
  }
  ranges_.assign(1, {0, static_cast<int32_t>(living_count_)});
  if (barriers_used_) {
    for (Barrier& barrier : barriers_) barrier.Reset();
    cluster_arrived_.fill(0);
    barriers_used_ = false;
  }
}

Outcome Block::Run() {
  const HostKernel& kernel = launch_->kernel;
  if (kernel.regions.size() == 1) {
    kernel.regions[0](&context_, 0, static_cast<int32_t>(context_.thread_count));
    return launch_->stopped() ? Outcome::kFaulted : Outcome::kDone;
  }
  yields_ = 0;
  regions_left_ = kRegionsPerTurn;
  Step step = together_ ? Step::kTogether : Step::kApart;
  while (true) {
    switch (step) {
      case Step::kTogether:
        step = RunTogether();
        break;
      case Step::kApart:
        step = RunApart();
        break;
      case Step::kDone:
        return Outcome::kDone;
      case Step::kStalled:
        return Outcome::kStalled;
      case Step::kFaulted:
        return Outcome::kFaulted;
    }
  }
}

Block::Step Block::RunTogether() {
  const HostKernel& kernel = launch_->kernel;
  while (true) {
    const RegionFunction region = kernel.regions[static_cast<size_t>(region_)];
    for (const Range& range : ranges_) region(&context_, range.begin, range.end);
    if (launch_->stopped()) return Step::kFaulted;
    const int32_t point = CommonPoint();
    if (point == kExited) return Step::kDone;
    if (point == kNowhere || !PassTogether(kernel.syncs[static_cast<size_t>(point)])) {
      Diverge();
      return Step::kApart;
    }
    region_ = point;
    if (KindOf(kernel.syncs[static_cast<size_t>(point)]) == SyncKind::kYield &&
        Stalled()) {
      return Step::kStalled;
    }
    if (--regions_left_ == 0) return Step::kStalled;
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
      if (next_[thread] == kExited) continue;
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

bool Block::PassTogether(const SyncPoint& sync) {
  switch (KindOf(sync)) {
    case SyncKind::kLoop:
    case SyncKind::kYield:
      return true;
    case SyncKind::kBarrier:
      return PassBarrier(sync);
    case SyncKind::kCluster:  // of one block: everybody has arrived
      return std::all_of(cluster_arrived_.begin(), cluster_arrived_.end(),
                         [](uint32_t lanes) { return lanes == 0; });
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
      const uint32_t group = Members(sync, warp * kWarpSize + LowestBit(waiting));
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

bool Block::Stalled() {
  context_.spin_budget = launch_->kernel.spin_budget;
  return ++yields_ >= kPatience;
}

bool Block::TakeProgress() {
  const bool progressed = progressed_;
  progressed_ = false;
  return progressed;
}

size_t Block::storage_bytes() const {
  return shared_.size() + local_.size() + slots_.size() + sync_in_.size() +
         sync_out_.size();
}

bool Block::OwnsLocal(uint64_t address) const {
  const auto begin = reinterpret_cast<uint64_t>(context_.local);
  const auto size = static_cast<uint64_t>(launch_->kernel.frame_bytes);
  return address >= begin && address - begin < size * context_.thread_count;
}

std::string Block::Describe(int32_t thread) const {
  const Extents position{context_.ctaid[0], context_.ctaid[1], context_.ctaid[2]};
  const uint64_t index = thread < 0 ? 0 : static_cast<uint64_t>(thread);
  return "thread " + ToString(Unravel(index, launch_->block)) + ", block " +
         ToString(position);
}

}  // namespace jax_rawcuda
