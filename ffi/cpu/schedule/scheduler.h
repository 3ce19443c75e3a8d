// scheduler.h: runs the blocks of a launch on a pool of threads.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ffi/base/error.h"
#include "ffi/cpu/base/kernel.h"
#include "ffi/cpu/base/task_pool.h"

namespace jax_rawcuda {

// The H200's limit per block, so that what runs here fits there.
inline constexpr uint64_t kSharedMemoryLimit = 227 * 1024;

class LaunchChecks;

struct LaunchConfig {
  std::string_view name;  // of the kernel, for messages
  std::array<uint32_t, 3> grid;
  std::array<uint32_t, 3> block;
  uint32_t shared_mem_bytes;        // dynamic
  bool cooperative;                 // all blocks must be able to wait for each other
  std::array<uint32_t, 3> cluster;  // in blocks; zeros: what __cluster_dims__ says
};

// The launch's cluster, or the one that the kernel's __cluster_dims__ asks for; an
// error where it does not fit.
Result<std::array<uint32_t, 3>> ClusterOf(const HostKernel& kernel,
                                          const LaunchConfig& config);

// Launches `kernel`, once per batch element of `params`, and returns after the last
// block. Each element has ParameterBytes. The calling thread takes part in the work; it
// does all of it when there are `checks`. Several elements exclude checks, clusters and
// cooperative launches.
Status LaunchGrid(const HostKernel& kernel, const Parameters& params,
                  const LaunchConfig& config, TaskPool& pool,
                  LaunchChecks* checks = nullptr);

}  // namespace jax_rawcuda
