// scheduler.cc: hands out blocks to threads and puts spinning blocks aside.
#include "ffi/cpu/schedule/scheduler.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "ffi/base/limits.h"
#include "ffi/base/settings.h"
#include "ffi/cpu/check/launch.h"
#include "ffi/cpu/helpers/heap.h"
#include "ffi/cpu/helpers/print.h"
#include "ffi/cpu/launch/faults.h"
#include "ffi/cpu/launch/launch_state.h"
#include "ffi/cpu/launch/watch.h"
#include "ffi/cpu/schedule/worker.h"

namespace jax_rawcuda {
namespace {

// Launches of fewer threads start on the calling thread alone: waking another one costs
// more than they do, unless they turn out to be long.
constexpr uint64_t kSmallLaunch = 1024;
constexpr std::chrono::microseconds kSmallLaunchTime{20};

std::string Grouped(const std::string_view name, const char* what, const Extents& given,
                    const Extents& limit) {
  return std::string(name) + ": " + what + "=" + ToString(given) +
         " is out of range; the limit is " + ToString(limit) + ".";
}

Status Validate(const HostKernel& kernel, const LaunchConfig& config) {
  const std::string name(config.name);
  for (int axis = 0; axis < 3; ++axis) {
    if (config.grid[axis] > kMaxGrid[axis]) {
      return InvalidArgument(Grouped(name, "grid", config.grid, kMaxGrid));
    }
    if (config.block[axis] == 0 || config.block[axis] > kMaxBlock[axis]) {
      return InvalidArgument(Grouped(name, "block", config.block, kMaxBlock));
    }
  }
  const uint32_t threads = config.block[0] * config.block[1] * config.block[2];
  const uint32_t limit =
      kernel.max_threads == 0 ? kMaxThreads : std::min(kernel.max_threads, kMaxThreads);
  if (threads > limit) {
    const char* reason = limit < kMaxThreads ? " by its __launch_bounds__" : "";
    return InvalidArgument(name + ": block=" + ToString(config.block) + " has " +
                           std::to_string(threads) + " threads; the limit is " +
                           std::to_string(limit) + " threads per block" + reason + ".");
  }
  uint64_t shared =
      static_cast<uint64_t>(kernel.shared_bytes) + config.shared_mem_bytes;
  shared -= std::min<uint64_t>(shared, kernel.red_zone_bytes);
  if (shared > kSharedMemoryLimit) {
    return InvalidArgument(
        name + ": " + std::to_string(shared) +
        " bytes of shared memory per block requested; the limit is " +
        std::to_string(kSharedMemoryLimit) + ".");
  }
  if (kernel.regions.empty() || kernel.regions.size() != kernel.syncs.size()) {
    return Internal(name + ": the compiled kernel has no usable code.");
  }
  return Status();
}

}  // namespace

Result<Extents> ClusterOf(const HostKernel& kernel, const LaunchConfig& config) {
  const std::string name(config.name);
  const bool given = config.cluster != Extents{};
  const bool fixed = kernel.cluster != Extents{};
  if (!given && !fixed) return Extents{1, 1, 1};
  const Extents cluster = fixed ? kernel.cluster : config.cluster;
  if (given && config.cluster != cluster) {
    return InvalidArgument(name + ": cluster=" + ToString(config.cluster) +
                           " is not the kernel's __cluster_dims__ " +
                           ToString(cluster) + ". Leave cluster out.");
  }
  const std::string what = fixed ? "the kernel's __cluster_dims__ " : "cluster=";
  uint64_t blocks = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (cluster[axis] == 0 || config.grid[axis] % cluster[axis] != 0) {
      return InvalidArgument(name + ": grid=" + ToString(config.grid) +
                             " is not divisible by " + what + ToString(cluster) +
                             ". Round the grid up to whole clusters.");
    }
    blocks *= cluster[axis];
  }
  if (blocks > kMaxClusterBlocks) {
    return InvalidArgument(name + ": " + what + ToString(cluster) + " has " +
                           std::to_string(blocks) + " blocks; the limit is " +
                           std::to_string(kMaxClusterBlocks) + ".");
  }
  return cluster;
}

Status LaunchGrid(const HostKernel& kernel, const Parameters& params,
                  const LaunchConfig& config, TaskPool& pool, LaunchChecks* checks) {
  const Result<Extents> cluster = ClusterOf(kernel, config);
  if (!cluster.ok()) return cluster.status();
  if (config.grid[0] == 0 || config.grid[1] == 0 || config.grid[2] == 0) {
    return Status();
  }
  RETURN_IF_ERROR(Validate(kernel, config));
  const Result<std::optional<double>> time_limit = CpuTimeoutSetting();
  if (!time_limit.ok()) return time_limit.status();

  const int64_t pool_threads =
      checks != nullptr ? 1 : std::max<int64_t>(pool.num_threads(), 1);
  // Shared with the pool's tasks: one that starts after this function has returned
  // finds the work closed and touches nothing else.
  const auto work = std::make_shared<BlockQueue>(
      kernel, params, config.grid, config.block, config.shared_mem_bytes,
      static_cast<uint64_t>(pool_threads), config.cooperative, checks);
  LaunchState& launch = work->launch;
  launch.cluster = cluster.value();
  launch.cooperative = config.cooperative;
  launch.time_limit = time_limit.value();
  ExpectFaults();
  const LaunchWatch watch(launch);
  if (checks != nullptr) checks->Begin(launch);
  const uint64_t helpers =
      std::min<uint64_t>(static_cast<uint64_t>(pool_threads), launch.block_count) - 1;
  const auto call_helpers = [&] {
    for (uint64_t i = 0; i < helpers && work->HasFreshBlocks(); ++i) {
      pool.Schedule([work] { work->Help(); });
    }
  };

  if (launch.block_count * launch.thread_count > kSmallLaunch) {
    call_helpers();
    work->Lead(nullptr);
  } else {
    const auto start = std::chrono::steady_clock::now();
    bool called = helpers == 0;
    work->Lead([&] {
      if (called || std::chrono::steady_clock::now() - start < kSmallLaunchTime) return;
      called = true;
      call_helpers();
    });
  }

  if (checks != nullptr) checks->Settle();
  WakePrinter();
  if (launch.stopped()) {
    ReleaseAllocations(launch.id);
    return Internal(std::string(config.name) + ": " +
                    (checks == nullptr ? "" : kCheckFailed) + launch.fault());
  }
  return Status();
}

}  // namespace jax_rawcuda
