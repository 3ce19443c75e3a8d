// replay.cc: commands of a plan over host buffers.
#include "ffi/cpu/replay/replay.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "ffi/cpu/replay/checked_buffers.h"
#include "ffi/cpu/schedule/scheduler.h"

namespace jax_rawcuda {
namespace {

// Parameter blocks of neighbouring elements share no line of a processor's cache.
constexpr size_t kParameterAlignment = 64;

// One call: the commands in order, each for all batch elements of a piece.
class Replay {
 public:
  Replay(const Plan& plan, const HostKernels& kernels, const Buffer* operands,
         const Buffer* results, TaskPool& pool)
      : plan_(plan),
        kernels_(kernels),
        given_operands_(operands),
        given_results_(results),
        pool_(pool),
        operands_(plan.operand_bytes.size()),
        results_(plan.result_bytes.size()) {
    if (plan.labels != nullptr) checked_.emplace(plan);
  }

  Status Run() {
    for (begin_ = 0; begin_ < plan_.batch_elements; begin_ = end_) {
      end_ = std::min(begin_ + plan_.at_once, plan_.batch_elements);
      const Status status = checked_ ? RunChecked() : RunCommands();
      if (!status.ok()) return status;
    }
    return Status();
  }

 private:
  // Points at batch element number `index` of the buffers.
  void Seek(uint64_t index) {
    const uint64_t in_piece = index - begin_;
    for (size_t i = 0; i < operands_.size(); ++i) {
      operands_[i] = static_cast<uint8_t*>(given_operands_[i].data);
    }
    for (size_t i = 0; i < results_.size(); ++i) {
      results_[i] = static_cast<uint8_t*>(given_results_[i].data) -
                    (index - in_piece) * plan_.own_strides[i];
    }
    for (auto axis = plan_.batch_axes.rbegin(); axis != plan_.batch_axes.rend();
         ++axis) {
      const uint64_t step = index % axis->size;
      index /= axis->size;
      Advance(operands_, axis->operand_strides, step);
      Advance(results_, axis->result_strides, step);
    }
  }

  // Checks follow one element at a time: such a plan has pieces of one.
  Status RunChecked() {
    Seek(begin_);
    Status status = checked_->Enter(operands_, results_);
    if (status.ok()) status = RunCommands();
    if (status.ok()) status = checked_->Leave();
    if (status.ok() || plan_.batch_elements == 1) return status;
    return Status(status.code(), status.message() + " This was batch element " +
                                     std::to_string(begin_) + " of " +
                                     std::to_string(plan_.batch_elements) + ".");
  }

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
    RETURN_IF_ERROR(CheckParameters(kernel, name, launch));
    const LaunchConfig config{name,
                              launch.grid,
                              launch.block,
                              launch.shared_mem_bytes,
                              launch.cooperative,
                              launch.cluster};
    const Result<Extents> cluster = ClusterOf(kernel, config);
    if (!cluster.ok()) return cluster.status();
    const size_t stride = (ParameterBytes(kernel) + kParameterAlignment - 1) /
                          kParameterAlignment * kParameterAlignment;
    const bool at_once = launch.at_once && cluster.value() == Extents{1, 1, 1};
    const uint64_t together = at_once ? end_ - begin_ : 1;
    for (uint64_t first = begin_; first < end_; first += together) {
      parameters_.assign(stride * together / sizeof(uint64_t), 0);
      for (uint64_t i = 0; i < together; ++i) {
        if (!checked_) Seek(first + i);
        WriteParameters(kernel, launch,
                        reinterpret_cast<uint8_t*>(parameters_.data()) + i * stride);
      }
      const Parameters parameters{reinterpret_cast<const uint8_t*>(parameters_.data()),
                                  stride, together};
      std::unique_ptr<LaunchChecks> checks;
      if (checked_) {
        RETURN_IF_ERROR(
            checked_->CheckScalars(plan_.functions[launch.function], launch));
        checks = checked_->Launch(kernel, plan_.functions[launch.function], launch);
      }
      RETURN_IF_ERROR(LaunchGrid(kernel, parameters, config, pool_, checks.get()));
    }
    return Status();
  }

  Status CheckParameters(const HostKernel& kernel, const std::string& name,
                         const Launch& launch) const {
    if (kernel.parameters.size() != launch.arguments.size()) {
      return Internal(name + ": the compiled kernel has " +
                      std::to_string(kernel.parameters.size()) +
                      " parameters, the plan " +
                      std::to_string(launch.arguments.size()) + ".");
    }
    const FunctionInfo& function = plan_.functions[launch.function];
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      const auto [offset, size] = kernel.parameters[i];
      const size_t given = function.parameters[i].size;
      if (given != size || uint64_t{offset} + size > kernel.parameter_bytes) {
        return Internal(name + ": parameter " + std::to_string(i) + " has " +
                        std::to_string(size) + " bytes in the compiled kernel, " +
                        std::to_string(given) + " in the plan.");
      }
    }
    return Status();
  }

  // For the element that the buffers point at.
  void WriteParameters(const HostKernel& kernel, const Launch& launch,
                       uint8_t* to) const {
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      const Argument& argument = launch.arguments[i];
      const auto [offset, size] = kernel.parameters[i];
      uint64_t word = begin_;
      const void* from = &word;
      switch (argument.kind) {
        case ArgumentTag::kPointer:
          word = Address(argument.place);
          break;
        case ArgumentTag::kScalar:
          from = argument.scalar.data();
          break;
        case ArgumentTag::kDynamic:
          from = Resolve(argument.place);
          break;
        case ArgumentTag::kStart:
          break;
      }
      std::memcpy(to + offset, from, size);
    }
  }

  Status Execute(const Copy& copy) {
    if (copy.bytes == 0) return Status();
    for (uint64_t i = begin_; i < end_; ++i) {
      if (!checked_) Seek(i);
      std::memmove(Resolve(copy.destination), Resolve(copy.source), copy.bytes);
    }
    return checked_ ? checked_->MarkCopied(copy) : Status();
  }

  Status Execute(const Fill& fill) {
    if (fill.bytes == 0) return Status();
    if (checked_) {
      RETURN_IF_ERROR(checked_->MarkFilled(fill.destination, fill.bytes));
    }
    for (uint64_t i = begin_; i < end_; ++i) {
      if (!checked_) Seek(i);
      Repeat(fill, Resolve(fill.destination));
    }
    return Status();
  }

  static void Repeat(const Fill& fill, uint8_t* begin) {
    if (fill.width == 1) {
      std::memset(begin, static_cast<int>(fill.value & 255), fill.bytes);
      return;
    }
    uint64_t done = std::min<uint64_t>(fill.width, fill.bytes);
    std::memcpy(begin, &fill.value, done);  // little endian: the low bytes
    while (done < fill.bytes) {
      const uint64_t more = std::min(done, fill.bytes - done);
      std::memcpy(begin + done, begin, more);
      done += more;
    }
  }

  Status Execute(const Verify&) { return Status(); }       // accesses are checked
  Status Execute(const Synchronize&) { return Status(); }  // launches have ended

  const Plan& plan_;
  const HostKernels& kernels_;
  const Buffer* const given_operands_;
  const Buffer* const given_results_;
  TaskPool& pool_;
  uint64_t begin_ = 0, end_ = 1;  // batch elements of the piece in hand
  std::vector<uint8_t*> operands_;
  std::vector<uint8_t*> results_;
  std::vector<uint64_t> parameters_;
  std::optional<CheckedBuffers> checked_;
};

}  // namespace

Status ReplayOnCpu(const Plan& plan, const HostKernels& kernels, const Buffer* operands,
                   const Buffer* results, TaskPool& pool) {
  return Replay(plan, kernels, operands, results, pool).Run();
}

}  // namespace jax_rawcuda
