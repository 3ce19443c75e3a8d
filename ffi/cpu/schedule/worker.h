// worker.h: the blocks of one launch that are still to run, and the threads that run
// them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "ffi/cpu/launch/launch_state.h"

namespace jax_rawcuda {

class BlockQueue {
 public:
  BlockQueue(const HostKernel& kernel, const Parameters& params, const Extents& grid,
             const Extents& block, uint32_t dynamic_shared, uint64_t threads,
             bool cooperative, LaunchChecks* checks);

  // Runs blocks on the calling thread, then waits for the helpers that have started.
  // Calls `after_block`, when there is one, after each block.
  void Lead(const std::function<void()>& after_block);

  // Runs blocks on a pool thread; does nothing once Lead has run out of work.
  void Help();

  bool HasFreshBlocks() const {
    return next_.load(std::memory_order_relaxed) < launch.cluster_count();
  }

  LaunchState launch;

 private:
  class Worker;

  const uint64_t chunk_;               // blocks taken at once
  const uint64_t threads_;             // that may take part
  const bool cooperative_;             //
  std::atomic<uint64_t> next_{0};      // first block that nobody has taken
  std::atomic<uint64_t> progress_{0};  // blocks and threads that have ended
  std::atomic<int> spinning_{0};       // workers whose blocks all spin
  std::atomic<int> active_{1};         // workers, the leader included

  std::mutex mutex_;
  std::condition_variable idle_;
  int helpers_ = 0;      // running now
  bool closed_ = false;  // no helper may start
};

}  // namespace jax_rawcuda
