// watch.h: ends launches that last too long or that the user interrupts.
#pragma once

#include <chrono>
#include <optional>

namespace jax_rawcuda {

class LaunchState;

// The seconds of JAX_RAWCUDA_CPU_TIMEOUT, when it is set to a positive number.
std::optional<double> TimeLimit();

// Stops a launch that has run for so long.
void StopLate(LaunchState& launch, double seconds);

// While it lives, a thread of its own looks after the launch: it stops it at the time
// limit, and soon after Ctrl-C.
class LaunchWatch {
 public:
  explicit LaunchWatch(LaunchState& launch);
  ~LaunchWatch();
  LaunchWatch(const LaunchWatch&) = delete;
  LaunchWatch& operator=(const LaunchWatch&) = delete;

 private:
  friend class Watcher;

  LaunchState& launch_;
  const std::chrono::steady_clock::time_point start_;
  LaunchWatch* previous_ = nullptr;
  LaunchWatch* next_ = nullptr;
};

}  // namespace jax_rawcuda
