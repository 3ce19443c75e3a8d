// replay.cc: commands of a plan over host buffers.
#include "ffi/cpu/replay/replay.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "ffi/cpu/launch/launch_state.h"
#include "ffi/cpu/replay/checked_buffers.h"
#include "ffi/cpu/schedule/scheduler.h"

namespace jax_rawcuda {
namespace {

// The launch's cluster, or the one that the kernel's __cluster_dims__ asks for.
Result<Extents> ClusterOf(const HostKernel& kernel, const std::string& name,
                          const Launch& launch) {
  const bool given = launch.cluster[0] != 0;
  if (kernel.cluster[0] == 0) {
    return given ? launch.cluster : Extents{1, 1, 1};
  }
  if (given && launch.cluster != kernel.cluster) {
    return InvalidArgument(name + ": cluster=" + ToString(launch.cluster) +
                           " is not the kernel's __cluster_dims__ " +
                           ToString(kernel.cluster) + ". Leave cluster out.");
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (launch.grid[axis] % kernel.cluster[axis] != 0) {
      return InvalidArgument(name + ": grid=" + ToString(launch.grid) +
                             " is not divisible by the kernel's __cluster_dims__ " +
                             ToString(kernel.cluster) +
                             ". Round the grid up to whole clusters.");
    }
  }
  return kernel.cluster;
}

// One pass over the commands: addresses of one batch element's buffers.
class Replay {
 public:
  Replay(const Plan& plan, const HostKernels& kernels, TaskPool& pool)
      : plan_(plan),
        kernels_(kernels),
        pool_(pool),
        operands_(plan.operand_bytes.size()),
        results_(plan.result_bytes.size()) {
    if (plan.labels != nullptr) checked_.emplace(plan);
  }

  // Points at batch element number `index` of the buffers.
  void Seek(uint64_t index, const Buffer* operands, const Buffer* results) {
    for (size_t i = 0; i < operands_.size(); ++i) {
      operands_[i] = static_cast<uint8_t*>(operands[i].data);
    }
    for (size_t i = 0; i < results_.size(); ++i) {
      results_[i] = static_cast<uint8_t*>(results[i].data);
    }
    for (auto axis = plan_.batch_axes.rbegin(); axis != plan_.batch_axes.rend();
         ++axis) {
      const uint64_t step = index % axis->size;
      index /= axis->size;
      Advance(operands_, axis->operand_strides, step);
      Advance(results_, axis->result_strides, step);
    }
  }

  Status Run() {
    if (!checked_) return RunCommands();
    RETURN_IF_ERROR(checked_->Enter(operands_, results_));
    RETURN_IF_ERROR(RunCommands());
    return checked_->Leave();
  }

 private:
  Status RunCommands() {
    for (const Command& command : plan_.commands) {
      RETURN_IF_ERROR(
          std::visit([this](const auto& c) { return this->Execute(c); }, command));
    }
    return Status();
  }

  static void Advance(std::vector<uint8_t*>& pointers,
                      const std::vector<uint64_t>& strides, uint64_t step) {
    for (size_t i = 0; i < pointers.size(); ++i) pointers[i] += strides[i] * step;
  }

  uint8_t* Resolve(const BufferRef& ref) const {
    const auto& base = ref.space == Space::kOperand ? operands_ : results_;
    return base[ref.index] + ref.offset;
  }

  // What kernels get for a buffer.
  uint64_t Address(const BufferRef& ref) const {
    uint8_t* const address = Resolve(ref);
    return checked_ ? checked_->Tag(ref, address) : reinterpret_cast<uint64_t>(address);
  }

  Status Execute(const Launch& launch) {
    const HostKernel& kernel = *kernels_[launch.function];
    const std::string& name = plan_.functions[launch.function].display_name;
    if (kernel.parameters.size() != launch.arguments.size()) {
      return Internal(name + ": the compiled kernel has " +
                      std::to_string(kernel.parameters.size()) +
                      " parameters, the plan " +
                      std::to_string(launch.arguments.size()) + ".");
    }
    // 64-bit words, because vector parameters are loaded whole; zeroed beyond the end.
    parameters_.assign(kernel.parameter_bytes / sizeof(uint64_t) + 4, 0);
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      const Argument& argument = launch.arguments[i];
      const auto [offset, size] = kernel.parameters[i];
      const uint64_t pointer = argument.is_pointer ? Address(argument.pointer) : 0;
      const size_t given =
          argument.is_pointer ? sizeof(pointer) : argument.scalar.size();
      if (given != size || uint64_t{offset} + size > kernel.parameter_bytes) {
        return Internal(name + ": parameter " + std::to_string(i) + " has " +
                        std::to_string(size) + " bytes in the compiled kernel, " +
                        std::to_string(given) + " in the plan.");
      }
      std::memcpy(reinterpret_cast<uint8_t*>(parameters_.data()) + offset,
                  argument.is_pointer ? static_cast<const void*>(&pointer)
                                      : argument.scalar.data(),
                  size);
    }
    Result<Extents> cluster = ClusterOf(kernel, name, launch);
    if (!cluster.ok()) return cluster.status();
    std::unique_ptr<LaunchChecks> checks;
    if (checked_) {
      checks = checked_->Launch(kernel, plan_.functions[launch.function], launch);
    }
    const LaunchConfig config{name,
                              launch.grid,
                              launch.block,
                              launch.shared_mem_bytes,
                              launch.cooperative,
                              cluster.value()};
    return LaunchGrid(kernel, parameters_.data(), config, pool_, checks.get());
  }

  Status Execute(const Copy& copy) {
    if (copy.bytes == 0) return Status();
    std::memmove(Resolve(copy.destination), Resolve(copy.source), copy.bytes);
    return checked_ ? checked_->MarkCopied(copy) : Status();
  }

  Status Execute(const Fill& fill) {
    if (fill.bytes == 0) return Status();
    if (checked_) {
      RETURN_IF_ERROR(checked_->MarkFilled(fill.destination, fill.bytes));
    }
    uint8_t* const begin = Resolve(fill.destination);
    if (fill.width == 1) {
      std::memset(begin, static_cast<int>(fill.value & 255), fill.bytes);
      return Status();
    }
    uint64_t done = std::min<uint64_t>(fill.width, fill.bytes);
    std::memcpy(begin, &fill.value, done);  // little endian: the low bytes
    while (done < fill.bytes) {
      const uint64_t more = std::min(done, fill.bytes - done);
      std::memcpy(begin + done, begin, more);
      done += more;
    }
    return Status();
  }

  Status Execute(const Verify&) { return Status(); }       // accesses are checked
  Status Execute(const Synchronize&) { return Status(); }  // launches have ended

  const Plan& plan_;
  const HostKernels& kernels_;
  TaskPool& pool_;
  std::vector<uint8_t*> operands_;
  std::vector<uint8_t*> results_;
  std::vector<uint64_t> parameters_;
  std::optional<CheckedBuffers> checked_;
};

}  // namespace

Status ReplayOnCpu(const Plan& plan, const HostKernels& kernels, const Buffer* operands,
                   const Buffer* results, TaskPool& pool) {
  uint64_t batch = 1;
  for (const BatchAxis& axis : plan.batch_axes) batch *= axis.size;
  Replay replay(plan, kernels, pool);
  for (uint64_t index = 0; index < batch; ++index) {
    replay.Seek(index, operands, results);
    RETURN_IF_ERROR(replay.Run());
  }
  return Status();
}

}  // namespace jax_rawcuda
