// launch_state.cc: one kernel launch in flight.
#include "ffi/cpu/launch/launch_state.h"

#include <utility>

namespace jax_rawcuda {
namespace {

uint64_t NextLaunchId() {
  static std::atomic<uint64_t> counter{1};
  return counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::string ToString(const Extents& extents) {
  return "(" + std::to_string(extents[0]) + "," + std::to_string(extents[1]) + "," +
         std::to_string(extents[2]) + ")";
}

Extents Unravel(uint64_t index, const Extents& extents) {
  const uint64_t row = index / extents[0];
  return {static_cast<uint32_t>(index % extents[0]),
          static_cast<uint32_t>(row % extents[1]),
          static_cast<uint32_t>(row / extents[1])};
}

LaunchState::LaunchState(const HostKernel& kernel, const Parameters& params,
                         const Extents& grid, const Extents& block,
                         uint32_t dynamic_shared, LaunchChecks* checks)
    : kernel(kernel),
      params(params),
      grid(grid),
      block(block),
      dynamic_shared(dynamic_shared),
      total_shared(static_cast<uint32_t>(kernel.shared_bytes) + dynamic_shared),
      thread_count(block[0] * block[1] * block[2]),
      grid_blocks(uint64_t{grid[0]} * grid[1] * grid[2]),
      block_count(grid_blocks * params.elements),
      id(NextLaunchId()),
      checks(checks) {}

void LaunchState::Fail(std::string message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopped()) return;
  fault_ = std::move(message);
  stop_.store(1, std::memory_order_relaxed);
}

void LaunchState::Interrupt(std::string reason, std::string advice) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopped()) return;
  fault_ = std::move(reason);
  advice_ = std::move(advice);
  interrupted_ = true;
  stop_.store(1, std::memory_order_relaxed);
}

void LaunchState::NotePlace(std::string place) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (interrupted_ && place_.empty()) place_ = std::move(place);
}

}  // namespace jax_rawcuda
