// counters.h: how often the slow things happened, for tests and for support.
#pragma once

#include <atomic>
#include <cstdint>

namespace jax_rawcuda {

struct Counters {
  std::atomic<int64_t> instantiate{0};       // plans decoded
  std::atomic<int64_t> live{0};              // executables' states alive
  std::atomic<int64_t> inflate{0};           // images decompressed
  std::atomic<int64_t> images{0};            // distinct images alive
  std::atomic<int64_t> load_host_kernel{0};  // calls of the Python hook
  std::atomic<int64_t> load{0};              // programs made ready on a device
  std::atomic<int64_t> library_load{0};
  std::atomic<int64_t> library_unload{0};
};

inline Counters& GlobalCounters() {
  static Counters* counters = new Counters();  // leaked: states may die after statics
  return *counters;
}

}  // namespace jax_rawcuda
