// block.cc: storage of a block and its turns.
#include "ffi/cpu/block/block.h"

#include <algorithm>

#include "ffi/cpu/block/cluster.h"

namespace jax_rawcuda {
namespace {

// Rounds of spinning after which other blocks get a turn.
constexpr uint32_t kPatience = 3;

// Regions that a block runs before others get a turn: a loop of barriers may be waiting
// for another block, and nothing in it says so.
constexpr uint32_t kRegionsPerTurn = 1000;

// Stack for a kernel's local arrays and the calls of device functions. Elsewhere than
// on Linux: half of what macOS gives a thread.
#if defined(__linux__)
constexpr uint64_t kStackBytes = 1 << 20;
#else
constexpr uint64_t kStackBytes = 256 << 10;
#endif

}  // namespace

bool Block::Prepare(LaunchState& launch, Cluster* cluster, uint32_t rank) {
  launch_ = &launch;
  cluster_ = cluster;
  const HostKernel& kernel = launch.kernel;
  const size_t threads = launch.thread_count;
  const size_t stride = (threads + 15) / 16 * 16;
  const bool stored =
      shared_.Reserve(cluster == nullptr ? launch.total_shared + kSlack : 0) &&
      local_.Reserve(static_cast<size_t>(kernel.frame_bytes) * threads + kSlack) &&
      slots_.Reserve(static_cast<size_t>(kernel.slot_bytes) * stride + kSlack) &&
      sync_in_.Reserve(static_cast<size_t>(kernel.sync_inputs) * stride * 8 + kSlack) &&
      sync_out_.Reserve(static_cast<size_t>(kernel.sync_outputs) * stride * 8 + kSlack);
  if (!stored) return false;

  context_ = Context();
  context_.params = launch.params.begin;
  context_.shared = cluster == nullptr ? shared_.data() : cluster->shared(rank);
  context_.local = local_.data();
  context_.next = next_;
  context_.slots = slots_.data();
  context_.sync_in = reinterpret_cast<uint64_t*>(sync_in_.data());
  context_.sync_out = reinterpret_cast<uint64_t*>(sync_out_.data());
  for (int axis = 0; axis < 3; ++axis) {
    context_.ntid[axis] = launch.block[axis];
    context_.nctaid[axis] = launch.grid[axis];
    context_.cluster_nctaid[axis] = launch.cluster[axis];
  }
  const Extents within = Unravel(rank, launch.cluster);
  std::copy(within.begin(), within.end(), context_.cluster_ctaid);
  context_.cluster_rank = rank;
  context_.thread_count = launch.thread_count;
  context_.thread_stride = static_cast<uint32_t>(stride);
  context_.dynamic_shared = launch.dynamic_shared;
  context_.total_shared = launch.total_shared;
  context_.block = this;
  context_.stop = launch.stop_flag();
  context_.grid_id = launch.id;
  context_.cluster_size = static_cast<uint32_t>(launch.cluster_blocks());
  context_.grid_workspace = launch.cooperative ? launch.grid_workspace : nullptr;
  checks_.reset();
  if (launch.checks != nullptr) {
    checks_ = std::make_unique<BlockChecks>(*launch.checks, launch, context_, *this);
  }
  warp_count_ = (launch.thread_count + kWarpSize - 1) / kWarpSize;
  return true;
}

void Block::Begin(uint64_t index) {
  const Parameters& params = launch_->params;
  if (params.elements > 1) {
    context_.params = params.begin + index / launch_->grid_blocks * params.stride;
    index %= launch_->grid_blocks;
  }
  const Extents position = Unravel(index, launch_->grid);
  std::copy(position.begin(), position.end(), context_.ctaid);
  context_.spin_budget = launch_->kernel.spin_budget;
  if (checks_ != nullptr) checks_->Begin(index);
  region_ = 0;
  if (launch_->kernel.regions.size() == 1) return;

  converged_ = true;
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
  const char here = 0;
  context_.stack_limit = reinterpret_cast<uint64_t>(&here) - kStackBytes;
  if (kernel.regions.size() == 1) {
    kernel.regions[0](&context_, 0, static_cast<int32_t>(context_.thread_count));
    return launch_->stopped() ? Outcome::kFaulted : Outcome::kDone;
  }
  yields_ = 0;
  regions_left_ = kRegionsPerTurn;
  Step step = converged_ ? Step::kConverged : Step::kDiverged;
  while (true) {
    switch (step) {
      case Step::kConverged:
        step = RunConverged();
        break;
      case Step::kDiverged:
        step = RunDiverged();
        break;
      case Step::kDone:
        return Outcome::kDone;
      case Step::kWaiting:
        return Outcome::kWaiting;
      case Step::kStalled:
        return Outcome::kStalled;
      case Step::kPaused:
        return Outcome::kPaused;
      case Step::kFaulted:
        return Outcome::kFaulted;
    }
  }
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

std::optional<Surroundings::Neighbour> Block::NeighbourAt(uint64_t address) const {
  if (cluster_ == nullptr) return std::nullopt;
  const uint32_t rank = cluster_->RankOf(address);
  if (rank == cluster_->size() || rank == context_.cluster_rank) return std::nullopt;
  return Neighbour{cluster_->checks(rank),
                   reinterpret_cast<uint64_t>(cluster_->shared(rank))};
}

bool Block::OwnsLocal(uint64_t address) const {
  const auto begin = reinterpret_cast<uint64_t>(context_.local);
  const auto size = static_cast<uint64_t>(launch_->kernel.frame_bytes);
  return address >= begin && address - begin < size * context_.thread_count;
}

void Block::ReportFault(const Fault& fault) {
  const Extents position{context_.ctaid[0], context_.ctaid[1], context_.ctaid[2]};
  const uint64_t stack_end = context_.stack_limit - kStackBytes;
  const bool overflow =
      fault.has_address && fault.address - stack_end < 2 * kStackBytes;
  std::string text = overflow ? "the stack is full" : fault.Describe();
  text += " in block " + ToString(position);
  const auto& texts = launch_->kernel.sync_texts;
  const auto region = static_cast<size_t>(region_);
  if (region < texts.size() && !texts[region].empty())
    text += " after " + texts[region];
  text += ".";
  if (checks_ == nullptr) {
    text += " Call it under rc.checking() to see thread, source line and argument.";
  }
  launch_->Fail(std::move(text));
}

std::string Block::Describe(int32_t thread) const {
  const Extents position{context_.ctaid[0], context_.ctaid[1], context_.ctaid[2]};
  const uint64_t index = thread < 0 ? 0 : static_cast<uint64_t>(thread);
  return "thread " + ToString(Unravel(index, launch_->block)) + ", block " +
         ToString(position);
}

std::string Block::Where() const {
  uint32_t thread = 0;
  while (thread + 1 < launch_->thread_count &&
         (living_[thread / kWarpSize] >> thread % kWarpSize & 1) == 0) {
    ++thread;
  }
  std::string place = Describe(static_cast<int32_t>(thread));
  const auto point = static_cast<size_t>(next_[thread]);
  const auto& texts = launch_->kernel.sync_texts;
  if (point < texts.size() && !texts[point].empty()) place += " at " + texts[point];
  return place;
}

}  // namespace jax_rawcuda
