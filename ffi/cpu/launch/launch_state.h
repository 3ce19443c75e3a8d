// launch_state.h: one kernel launch in flight, shared by the threads that run its
// blocks.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "ffi/base/error.h"
#include "ffi/cpu/base/kernel.h"

namespace jax_rawcuda {

using Extents = std::array<uint32_t, 3>;

// "(x,y,z)".
std::string ToString(const Extents& extents);

// Splits a linear index, x fastest.
Extents Unravel(uint64_t index, const Extents& extents);

class LaunchChecks;

class LaunchState {
 public:
  LaunchState(const HostKernel& kernel, const Parameters& params, const Extents& grid,
              const Extents& block, uint32_t dynamic_shared,
              LaunchChecks* checks = nullptr);

  const HostKernel& kernel;
  const Parameters params;
  const Extents grid;   // in blocks
  const Extents block;  // in threads
  const uint32_t dynamic_shared;
  const uint32_t total_shared;
  const uint32_t thread_count;  // of one block
  const uint64_t grid_blocks;   // of one grid
  const uint64_t block_count;   // of the grids of all batch elements
  Extents cluster = {1, 1, 1};  // in blocks; divides the grid
  const uint64_t id;            // differs between launches
  LaunchChecks* const checks;   // null: the launch is not checked

  uint64_t cluster_blocks() const {
    return uint64_t{cluster[0]} * cluster[1] * cluster[2];
  }
  uint64_t cluster_count() const { return block_count / cluster_blocks(); }

  // Whether the blocks of the grid may wait for each other.
  bool cooperative = false;

  // Seconds that it may take.
  std::optional<double> time_limit;

  // Zeroed words where they meet (cooperative groups).
  alignas(64) uint32_t grid_workspace[64] = {};

  // Records the first fault and asks every block to stop. Later faults are dropped.
  void Fail(std::string message);
  // The same for a reason outside the kernel. What runs at the moment is named between
  // `reason` and `advice`.
  void Interrupt(std::string reason, std::string advice);
  // Says where one thread was when the launch was interrupted; the first one counts.
  void NotePlace(std::string place);

  bool stopped() const { return stop_.load(std::memory_order_relaxed) != 0; }
  // What generated code polls: not zero once the launch has stopped.
  const void* stop_flag() const { return &stop_; }
  // The first fault. Only after all blocks have stopped.
  std::string fault() const { return fault_ + place_ + advice_; }

 private:
  std::atomic<int32_t> stop_{0};
  std::mutex mutex_;
  bool interrupted_ = false;
  std::string fault_, place_, advice_;
};

}  // namespace jax_rawcuda
