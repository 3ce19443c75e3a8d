// cluster.cc: the blocks of a cluster take turns on one thread.
#include "ffi/cpu/block/cluster.h"

#include <algorithm>

namespace jax_rawcuda {
namespace {

constexpr size_t kAlignment = static_cast<size_t>(AlignedBuffer::kAlignment);

}  // namespace

bool Cluster::Prepare(LaunchState& launch) {
  launch_ = &launch;
  const auto count = static_cast<uint32_t>(launch.cluster_blocks());
  blocks_.resize(count);
  running_ = 0;
  done_.assign(count, false);
  for (std::unique_ptr<Block>& block : blocks_) {
    if (block == nullptr) block = std::make_unique<Block>();
  }
  if (count == 1) return blocks_[0]->Prepare(launch, nullptr, 0);
  const size_t bytes = launch.total_shared + Block::kSlack;
  stride_ = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (!shared_.Reserve(stride_ * count)) return false;
  for (uint32_t rank = 0; rank < count; ++rank) {
    if (!blocks_[rank]->Prepare(launch, this, rank)) return false;
  }
  return true;
}

void Cluster::Begin(uint64_t index) {
  if (blocks_.size() == 1) return blocks_[0]->Begin(index);
  const Extents& size = launch_->cluster;
  const Extents& grid = launch_->grid;
  const Extents place =
      Unravel(index, {grid[0] / size[0], grid[1] / size[1], grid[2] / size[2]});
  for (uint32_t rank = 0; rank < blocks_.size(); ++rank) {
    const Extents within = Unravel(rank, size);
    uint64_t block = 0;
    for (int axis = 2; axis >= 0; --axis) {
      block = block * grid[axis] + uint64_t{place[axis]} * size[axis] + within[axis];
    }
    blocks_[rank]->Begin(block);
  }
  done_.assign(blocks_.size(), false);
  progressed_ = false;
}

Outcome Cluster::Run() {
  if (blocks_.size() == 1) return blocks_[0]->Run();
  while (true) {
    Outcome pending = Outcome::kWaiting;
    for (uint32_t rank = 0; rank < blocks_.size(); ++rank) {
      if (done_[rank]) continue;
      running_ = rank;
      const Outcome outcome = blocks_[rank]->Run();
      if (outcome == Outcome::kFaulted) return outcome;
      if (outcome == Outcome::kDone) {
        done_[rank] = progressed_ = true;
      } else {
        pending = std::max(pending, outcome);
      }
    }
    const auto running = std::find(done_.begin(), done_.end(), false);
    if (running == done_.end()) return Outcome::kDone;
    if (pending != Outcome::kWaiting) return pending;
    if (CompleteBarrier()) continue;
    bool stuck = true;
    for (uint32_t rank = 0; rank < blocks_.size(); ++rank) {
      stuck &= done_[rank] || !blocks_[rank]->MayPassCluster();
    }
    if (!stuck) continue;
    blocks_[static_cast<size_t>(running - done_.begin())]->ReportDeadlock();
    return Outcome::kFaulted;
  }
}

bool Cluster::CompleteBarrier() {
  bool any = false;
  for (uint32_t rank = 0; rank < blocks_.size(); ++rank) {
    if (done_[rank]) continue;
    if (!blocks_[rank]->AllAtCluster()) return false;
    any |= blocks_[rank]->AnyAtCluster();
  }
  if (!any) return false;
  if (launch_->checks != nullptr) CheckSkippers();
  for (const std::unique_ptr<Block>& block : blocks_) block->LeaveCluster();
  progressed_ = true;
  return true;
}

bool Cluster::TakeProgress() {
  bool progressed = progressed_;
  progressed_ = false;
  for (const std::unique_ptr<Block>& block : blocks_) {
    progressed |= block->TakeProgress();
  }
  return progressed;
}

size_t Cluster::storage_bytes() const {
  size_t bytes = shared_.size();
  for (const std::unique_ptr<Block>& block : blocks_) bytes += block->storage_bytes();
  return bytes;
}

std::string Cluster::Where() const {
  const auto running = std::find(done_.begin(), done_.end(), false);
  const auto rank = running == done_.end() ? 0 : running - done_.begin();
  return blocks_[static_cast<size_t>(rank)]->Where();
}

uint32_t Cluster::RankOf(uint64_t address) const {
  const auto begin = reinterpret_cast<uint64_t>(shared_.data());
  // One past the end counts: it is where an empty array at the end begins.
  const bool inside = address >= begin && address - begin < stride_ * size() &&
                      (address - begin) % stride_ <= launch_->total_shared;
  return inside ? static_cast<uint32_t>((address - begin) / stride_) : size();
}

}  // namespace jax_rawcuda
