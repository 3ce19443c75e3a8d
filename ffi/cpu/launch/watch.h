// watch.h: ends launches that last too long or that the user interrupts.
#pragma once

#include <chrono>

namespace jax_rawcuda {

class LaunchState;

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
