// replay.cc: a plan as driver calls, prepared once.
#include "ffi/cuda/replay.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "ffi/base/counters.h"
#include "ffi/base/text.h"
#include "ffi/cuda/guard.h"
#include "ffi/cuda/library.h"

namespace jax_rawcuda {
namespace {

bool IsDebugging() {
  static const bool debugging = [] {
    const char* value = std::getenv("JAX_RAWCUDA_DEBUG");
    return value != nullptr && std::string_view(value) == "1";
  }();
  return debugging;
}

// Steps through the batch elements, the last axis fastest.
class BatchCursor {
 public:
  BatchCursor(const Plan& plan, char** buffers) : plan_(plan), buffers_(buffers) {}

  void Advance() {
    for (size_t a = plan_.batch_axes.size(); a-- > 0;) {
      const BatchAxis& axis = plan_.batch_axes[a];
      if (++index_[a] < axis.size) return Move(axis, 1);
      index_[a] = 0;
      Move(axis, -(axis.size - 1));
    }
  }

 private:
  // `steps` counts modulo 2^64, so that it may be negative.
  void Move(const BatchAxis& axis, uint64_t steps) {
    char** buffer = buffers_;
    for (uint64_t stride : axis.operand_strides) *buffer++ += stride * steps;
    for (uint64_t stride : axis.result_strides) *buffer++ += stride * steps;
  }

  const Plan& plan_;
  char** buffers_;
  uint64_t index_[kMaxBatchAxes] = {};
};

}  // namespace

CudaReplay::CudaReplay(Plan plan, Images images)
    : plan_(std::move(plan)), images_(std::move(images)), debug_(IsDebugging()) {
  for (const Command& command : plan_.commands) {
    steps_.push_back(std::visit([this](const auto& c) { return Prepare(c); }, command));
    needs_context_ |= !std::holds_alternative<Launch>(command);
  }
}

CudaReplay::Slot CudaReplay::Locate(const BufferRef& ref) const {
  const size_t first = ref.space == Space::kOperand ? 0 : plan_.operand_bytes.size();
  return Slot{nullptr, static_cast<uint32_t>(first + ref.index), ref.offset};
}

CudaReplay::Step CudaReplay::Prepare(const Launch& launch) const {
  PreparedLaunch step{&launch, {}, {}, {}};
  for (const Argument& argument : launch.arguments) {
    step.slots.push_back(argument.is_pointer ? Locate(argument.pointer)
                                             : Slot{argument.scalar.data(), 0, 0});
  }
  CUlaunchConfig& config = step.config;
  config.gridDimX = launch.grid[0];
  config.gridDimY = launch.grid[1];
  config.gridDimZ = launch.grid[2];
  config.blockDimX = launch.block[0];
  config.blockDimY = launch.block[1];
  config.blockDimZ = launch.block[2];
  config.sharedMemBytes = launch.shared_mem_bytes;
  if (launch.cluster[0] != 0) {
    CUlaunchAttribute& attribute = step.attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = launch.cluster[0];
    attribute.value.clusterDim.y = launch.cluster[1];
    attribute.value.clusterDim.z = launch.cluster[2];
  }
  if (launch.cooperative) {
    CUlaunchAttribute& attribute = step.attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
  }
  if (launch.programmatic) {
    CUlaunchAttribute& attribute = step.attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  return step;
}

CudaReplay::Step CudaReplay::Prepare(const Copy& copy) const {
  return PreparedCopy{Locate(copy.destination), Locate(copy.source), copy.bytes};
}

CudaReplay::Step CudaReplay::Prepare(const Fill& fill) const {
  return PreparedFill{Locate(fill.destination), fill.bytes / fill.width, fill.width,
                      fill.value};
}

const CudaReplay::Kernels* CudaReplay::Find(int ordinal) const {
  if (ordinal >= 0 && ordinal < kFastOrdinals) {
    return near_[ordinal].load(std::memory_order_acquire);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = kernels_.find(ordinal);
  return found == kernels_.end() ? nullptr : &found->second;
}

void CudaReplay::Publish(int ordinal, Kernels kernels) {
  std::lock_guard<std::mutex> lock(mutex_);
  const Kernels& kept = kernels_.try_emplace(ordinal, std::move(kernels)).first->second;
  if (ordinal >= 0 && ordinal < kFastOrdinals) {
    near_[ordinal].store(&kept, std::memory_order_release);
  }
}

// Several threads may load at once; all of them find the same handles.
Status CudaReplay::Load(CUstream stream, int ordinal) {
  if (!GetDriver().error.empty()) {
    return FailedPrecondition(plan_.op_name + ": " + GetDriver().error);
  }
  const ContextScope scope(stream);
  RETURN_IF_ERROR(scope.status());
  Result<Device> device = QueryDevice();
  if (!device.ok()) return device.status();
  Kernels kernels;
  for (const FunctionInfo& function : plan_.functions) {
    Result<CUkernel> kernel =
        LoadKernel(plan_, function, *images_[function.image], device.value(), stream);
    if (!kernel.ok()) return kernel.status();
    kernels.push_back(kernel.value());
  }
  for (const Command& command : plan_.commands) {
    const auto* launch = std::get_if<Launch>(&command);
    if (launch == nullptr) continue;
    RETURN_IF_ERROR(
        PrepareLaunch(plan_, *launch, kernels[launch->function], device.value()));
  }
  ++GlobalCounters().initialize;
  Publish(ordinal, std::move(kernels));
  return Status();
}

Status CudaReplay::Execute(CUstream stream, int ordinal, char** buffers) const {
  const Kernels* kernels = Find(ordinal);
  if (kernels == nullptr) {
    return Internal(plan_.op_name + ": its kernels are not loaded on device " +
                    Str(ordinal) + ".");
  }
  const Call call{stream, *kernels, buffers};
  if (!needs_context_) return RunBatch(call);
  const ContextScope scope(stream);
  RETURN_IF_ERROR(scope.status());
  return RunBatch(call);
}

Status CudaReplay::RunBatch(const Call& call) const {
  if (plan_.batch_axes.empty()) return RunSteps(call);
  BatchCursor cursor(plan_, call.buffers);
  for (uint64_t i = 0; i < plan_.batch_elements; ++i) {
    RETURN_IF_ERROR(RunSteps(call));
    cursor.Advance();
  }
  return Status();
}

Status CudaReplay::RunSteps(const Call& call) const {
  for (const Step& step : steps_) {
    RETURN_IF_ERROR(std::visit([&](const auto& s) { return Run(s, call); }, step));
  }
  return Status();
}

Status CudaReplay::Run(const PreparedLaunch& step, const Call& call) const {
  void* pointers[kMaxArguments];
  void* arguments[kMaxArguments];
  for (size_t i = 0; i < step.slots.size(); ++i) {
    const Slot& slot = step.slots[i];
    if (slot.scalar != nullptr) {
      arguments[i] = const_cast<void*>(slot.scalar);
    } else {
      pointers[i] = call.buffers[slot.buffer] + slot.offset;
      arguments[i] = &pointers[i];
    }
  }
  CUlaunchConfig config = step.config;
  config.hStream = call.stream;
  config.attrs = const_cast<CUlaunchAttribute*>(step.attributes);
  // The driver takes a context-free kernel here, and the context from the stream.
  const auto kernel = reinterpret_cast<CUfunction>(call.kernels[step.launch->function]);
  const CUresult result =
      GetDriver().LaunchKernelEx(&config, kernel, arguments, nullptr);
  if (result != CUDA_SUCCESS) {
    return LaunchFailed(step, Check(result, "cuLaunchKernelEx"));
  }
  if (!debug_) return Status();
  const FunctionInfo& function = plan_.functions[step.launch->function];
  return WaitForDebugging(KernelName(plan_, function), call.stream);
}

Status CudaReplay::Run(const PreparedCopy& step, const Call& call) const {
  if (step.bytes == 0) return Status();
  const auto place = [&](const Slot& slot) {
    return reinterpret_cast<CUdeviceptr>(call.buffers[slot.buffer] + slot.offset);
  };
  const CUresult result = GetDriver().MemcpyDtoDAsync(
      place(step.destination), place(step.source), step.bytes, call.stream);
  if (result == CUDA_SUCCESS) return Status();
  return Internal(plan_.op_name + ": " + Check(result, "cuMemcpyDtoDAsync").message() +
                  "; " + Str(step.bytes) + " bytes.");
}

Status CudaReplay::Run(const PreparedFill& step, const Call& call) const {
  if (step.count == 0) return Status();
  const Driver& driver = GetDriver();
  const auto to = reinterpret_cast<CUdeviceptr>(call.buffers[step.destination.buffer] +
                                                step.destination.offset);
  const CUresult result =
      step.width == 4   ? driver.MemsetD32Async(to, step.value, step.count, call.stream)
      : step.width == 2 ? driver.MemsetD16Async(to, step.value, step.count, call.stream)
                        : driver.MemsetD8Async(to, step.value, step.count, call.stream);
  if (result == CUDA_SUCCESS) return Status();
  return Internal(plan_.op_name + ": " + Check(result, "cuMemsetAsync").message() +
                  "; " + Str(step.count) + " values of " + Str(step.width) + " bytes.");
}

Status CudaReplay::Run(const Synchronize&, const Call& call) const {
  const CUresult result = GetDriver().StreamSynchronize(call.stream);
  if (result == CUDA_SUCCESS) return Status();
  return Internal(plan_.op_name + ": " +
                  Check(result, "cuStreamSynchronize").message() +
                  ". A kernel that ran before is the cause: set JAX_RAWCUDA_DEBUG=1.");
}

Status CudaReplay::Run(const PreparedVerify& step, const Call& call) const {
  const char* const begin = call.buffers[step.begin.buffer] + step.begin.offset;
  return CheckGuards(*step.verify, begin, call.stream);
}

Status CudaReplay::LaunchFailed(const PreparedLaunch& step, const Status& cause) const {
  const Launch& launch = *step.launch;
  return Internal(KernelName(plan_, plan_.functions[launch.function]) + ": " +
                  cause.message() + "; grid=" + Str(launch.grid) +
                  ", block=" + Str(launch.block) +
                  ", shared_mem_bytes=" + Str(launch.shared_mem_bytes) +
                  ". An earlier kernel may be the cause: set JAX_RAWCUDA_DEBUG=1.");
}

Status CudaReplay::WaitForDebugging(const std::string& what, CUstream stream) const {
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  GetDriver().StreamIsCapturing(stream, &capture);
  if (capture != CU_STREAM_CAPTURE_STATUS_NONE) return Status();
  const CUresult result = GetDriver().StreamSynchronize(stream);
  if (result == CUDA_SUCCESS) return Status();
  return Internal(what + " failed while it ran: " +
                  Check(result, "cuStreamSynchronize").message() + ".");
}

}  // namespace jax_rawcuda
