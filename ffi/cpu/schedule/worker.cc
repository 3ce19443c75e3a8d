// worker.cc: one thread's share of a launch.
#include "ffi/cpu/schedule/worker.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ffi/cpu/base/float_environment.h"
#include "ffi/cpu/block/cluster.h"
#include "ffi/cpu/launch/faults.h"
#include "ffi/cpu/launch/watch.h"

namespace jax_rawcuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kLargestChunk = 256;
// Chunks that each thread gets, so that the threads finish together.
constexpr uint64_t kChunksPerThread = 32;

// Blocks that wait for others, per launch.
constexpr uint64_t kParkedBytes = uint64_t{1} << 30;
constexpr uint64_t kMinParked = 64;
constexpr uint64_t kMaxParked = 4096;

// With more than so many parked blocks, most turns go to them: blocks that only take
// long should end before others add to the memory in use.
constexpr uint64_t kCrowd = 32;
constexpr uint64_t kTurnsPerFreshBlock = 8;

// Block storage that a thread keeps between launches.
constexpr size_t kKeptBytes = size_t{8} << 20;

// Seconds without progress after which a launch whose threads all spin fails, unless a
// time limit is set.
constexpr double kSpinLimit = 30;

// One block per thread outlives its launch: most launches need no allocation.
std::unique_ptr<Cluster>& KeptBlock() {
  thread_local std::unique_ptr<Cluster> block;
  return block;
}

}  // namespace

// Runs blocks until none is left that it could run.
class BlockQueue::Worker {
 public:
  explicit Worker(BlockQueue& queue) : queue_(queue), launch_(queue.launch) {}

  ~Worker() {
    SetSpinning(false);
    if (free_.empty() || free_.back()->storage_bytes() > kKeptBytes) return;
    KeptBlock() = std::move(free_.back());
  }

  void Run(const std::function<void()>& after_block) {
    const std::optional<Fault> fault = CatchFault([&] { RunBlocks(after_block); });
    if (fault) current_->ReportFault(*fault);
    if (!launch_.stopped() || parked_.empty()) return;
    launch_.NotePlace((spinning_ ? " while all threads spin: " : " in ") +
                      parked_.front()->Where());
  }

 private:
  void RunBlocks(const std::function<void()>& after_block) {
    while (!launch_.stopped()) {
      bool fresh = true;
      current_ = TakeFresh();
      if (current_ == nullptr) {
        if (parked_.empty()) return;
        fresh = false;
        current_ = std::move(parked_.front());
        parked_.pop_front();
      }
      ArmFaults(true);
      const Outcome outcome = current_->Run();
      ArmFaults(false);
      switch (outcome) {
        case Outcome::kDone:
          NoteProgress();
          free_.push_back(std::move(current_));
          break;
        case Outcome::kPaused:
          NoteProgress();
          parked_.push_back(std::move(current_));
          break;
        case Outcome::kWaiting:
        case Outcome::kStalled: {
          const bool progressed = current_->TakeProgress() || fresh;
          parked_.push_back(std::move(current_));
          if (progressed) {
            NoteProgress();
          } else if (!Patient()) {
            return;
          }
          break;
        }
        case Outcome::kFaulted:
          parked_.push_front(std::move(current_));
          return;
      }
      if (after_block) after_block();
    }
  }

  // The next block that nobody has begun, ready to run; null when there is none or too
  // many blocks are parked already.
  std::unique_ptr<Cluster> TakeFresh() {
    if (parked_.size() >= parked_limit_) return nullptr;
    if (parked_.size() > kCrowd && ++turns_ % kTurnsPerFreshBlock != 0) return nullptr;
    if (begin_ == end_) {
      if (!queue_.HasFreshBlocks()) return nullptr;
      begin_ = queue_.next_.fetch_add(queue_.chunk_, std::memory_order_relaxed);
      begin_ = std::min(begin_, launch_.cluster_count());
      end_ = std::min(begin_ + queue_.chunk_, launch_.cluster_count());
      if (begin_ == end_) return nullptr;
    }
    std::unique_ptr<Cluster> block = TakeStorage();
    if (block != nullptr) block->Begin(begin_++);
    return block;
  }

  std::unique_ptr<Cluster> TakeStorage() {
    if (!free_.empty()) {
      std::unique_ptr<Cluster> block = std::move(free_.back());
      free_.pop_back();
      return block;
    }
    std::unique_ptr<Cluster> block = std::move(KeptBlock());
    if (block == nullptr) block = std::make_unique<Cluster>();
    if (!block->Prepare(launch_)) {
      launch_.Fail("out of host memory for " + std::to_string(parked_.size() + 1) +
                   " blocks.");
      return nullptr;
    }
    const uint64_t bytes = std::max<uint64_t>(block->storage_bytes(), 1);
    if (!queue_.cooperative_) {
      parked_limit_ =
          std::clamp(kParkedBytes / queue_.threads_ / bytes, kMinParked, kMaxParked);
    }
    return block;
  }

  void NoteProgress() {
    rounds_ = 0;
    SetSpinning(false);
    queue_.progress_.fetch_add(1, std::memory_order_relaxed);
  }

  void SetSpinning(bool spinning) {
    if (spinning == spinning_) return;
    spinning_ = spinning;
    queue_.spinning_.fetch_add(spinning ? 1 : -1, std::memory_order_relaxed);
  }

  // Notes that one more parked block went on spinning. Fails the launch, and returns
  // false, when nothing else has happened on any thread for too long.
  bool Patient() {
    if (++rounds_ <= parked_.size() + 1) return true;
    SetSpinning(true);
    if (rounds_ % 16 != 0) return true;
    std::this_thread::yield();
    const Clock::time_point now = Clock::now();
    const uint64_t progress = queue_.progress_.load(std::memory_order_relaxed);
    const bool all_spin = queue_.spinning_.load(std::memory_order_relaxed) ==
                          queue_.active_.load(std::memory_order_relaxed);
    if (!all_spin || progress != seen_progress_ || since_ == Clock::time_point()) {
      seen_progress_ = progress;
      since_ = now;
      return true;
    }
    const double limit = launch_.time_limit.value_or(kSpinLimit);
    if (std::chrono::duration<double>(now - since_).count() < limit) return true;
    StopLate(launch_, limit);
    return false;
  }

  const FloatEnvironment environment_;
  BlockQueue& queue_;
  LaunchState& launch_;
  uint64_t begin_ = 0, end_ = 0;      // of the chunk in hand
  std::unique_ptr<Cluster> current_;  // the block that runs
  std::vector<std::unique_ptr<Cluster>> free_;
  std::deque<std::unique_ptr<Cluster>> parked_;
  uint64_t parked_limit_ = UINT64_MAX;
  uint64_t turns_ = 0;  // taken while there was a crowd

  bool spinning_ = false;
  uint64_t rounds_ = 0;  // runs of blocks since the last progress
  uint64_t seen_progress_ = 0;
  Clock::time_point since_;  // when all threads began to spin
};

BlockQueue::BlockQueue(const HostKernel& kernel, const Parameters& params,
                       const Extents& grid, const Extents& block,
                       uint32_t dynamic_shared, uint64_t threads, bool cooperative,
                       LaunchChecks* checks)
    : launch(kernel, params, grid, block, dynamic_shared, checks),
      chunk_(std::clamp<uint64_t>(launch.block_count / (threads * kChunksPerThread), 1,
                                  kLargestChunk)),
      threads_(threads),
      cooperative_(cooperative) {}

void BlockQueue::Lead(const std::function<void()>& after_block) {
  {
    Worker(*this).Run(after_block);
  }
  active_.fetch_sub(1, std::memory_order_relaxed);
  std::unique_lock<std::mutex> lock(mutex_);
  closed_ = true;
  idle_.wait(lock, [this] { return helpers_ == 0; });
}

void BlockQueue::Help() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (closed_ || !HasFreshBlocks()) return;
    ++helpers_;
  }
  active_.fetch_add(1, std::memory_order_relaxed);
  {
    Worker(*this).Run(nullptr);
  }
  active_.fetch_sub(1, std::memory_order_relaxed);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (--helpers_ == 0) idle_.notify_one();
}

}  // namespace jax_rawcuda
