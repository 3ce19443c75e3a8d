// replay.cc: a plan as driver calls, prepared once.
#include "ffi/cuda/replay.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "ffi/base/counters.h"
#include "ffi/base/text.h"
#include "ffi/cuda/guard.h"
#include "ffi/cuda/library.h"

namespace jax_rawcuda {
namespace {

// The rows of a 2-D copy are no further apart, on any device.
constexpr uint64_t kMaxPitch = std::numeric_limits<int32_t>::max();

// Where the buffers of one batch element begin.
class Cursor {
 public:
  Cursor(const Plan& plan, char* const* buffers) : plan_(plan), given_(buffers) {}

  char* const* buffers() const { return buffers_; }

  // For launches that step from element to element themselves: only what begins anew
  // with each piece of the batch is moved, against the steps that lead to the piece.
  void Rewind(uint64_t piece) {
    const size_t operands = plan_.operand_bytes.size();
    std::copy_n(given_, operands, buffers_);
    for (size_t i = 0; i < plan_.own_strides.size(); ++i) {
      buffers_[operands + i] = given_[operands + i] - piece * plan_.own_strides[i];
    }
  }

  void Seek(uint64_t element, uint64_t piece) {
    Rewind(piece);
    for (size_t a = plan_.batch_axes.size(); a-- > 0;) {
      const BatchAxis& axis = plan_.batch_axes[a];
      const uint64_t step = element % axis.size;
      element /= axis.size;
      char** buffer = buffers_;
      for (uint64_t stride : axis.operand_strides) *buffer++ += stride * step;
      for (uint64_t stride : axis.result_strides) *buffer++ += stride * step;
    }
  }

 private:
  const Plan& plan_;
  char* const* const given_;
  char* buffers_[kMaxBuffers];
};

}  // namespace

CudaReplay::CudaReplay(Plan plan, Images images, bool debug)
    : plan_(std::move(plan)), images_(std::move(images)), debug_(debug) {
  for (const Command& command : plan_.commands) {
    steps_.push_back(std::visit([this](const auto& c) { return Prepare(c); }, command));
    needs_context_ |= !std::holds_alternative<Launch>(command);
  }
}

CudaReplay::Slot CudaReplay::Locate(const BufferRef& ref) const {
  const size_t first = ref.space == Space::kOperand ? 0 : plan_.operand_bytes.size();
  return Slot{ArgumentTag::kPointer, nullptr, static_cast<uint32_t>(first + ref.index),
              ref.offset};
}

CudaReplay::Step CudaReplay::Prepare(const Launch& launch) const {
  PreparedLaunch step{&launch, {}, {}, {}, launch.at_once};
  for (const Argument& argument : launch.arguments) {
    step.slots.push_back(argument.kind == ArgumentTag::kPointer
                             ? Locate(argument.place)
                             : Slot{argument.kind, argument.scalar.data(), 0, 0});
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

// 0 where the batch has several axes: its elements are not one pitch apart.
uint64_t CudaReplay::PitchOf(const Slot& slot) const {
  if (plan_.batch_axes.size() != 1) return 0;
  const BatchAxis& axis = plan_.batch_axes[0];
  const size_t operands = axis.operand_strides.size();
  return slot.buffer < operands ? axis.operand_strides[slot.buffer]
                                : axis.result_strides[slot.buffer - operands];
}

CudaReplay::Step CudaReplay::Prepare(const Copy& copy) const {
  PreparedCopy step{Locate(copy.destination), Locate(copy.source), copy.bytes, {}, {}};
  step.pitch = {PitchOf(step.destination), PitchOf(step.source)};
  const auto [shorter, longer] = std::minmax(step.pitch.destination, step.pitch.source);
  step.at_once = shorter >= copy.bytes && (longer == copy.bytes || longer <= kMaxPitch);
  return step;
}

CudaReplay::Step CudaReplay::Prepare(const Fill& fill) const {
  PreparedFill step{Locate(fill.destination),
                    fill.bytes / fill.width,
                    fill.width,
                    fill.value,
                    {},
                    {}};
  step.pitch = {PitchOf(step.destination), 0};
  const uint64_t pitch = step.pitch.destination;
  step.at_once = pitch >= fill.bytes && (pitch == fill.bytes || pitch <= kMaxPitch);
  return step;
}

const CudaReplay::Kernels* CudaReplay::Find(int ordinal) const {
  if (ordinal >= 0 && ordinal < kFastOrdinals) {
    return near_[ordinal].load(std::memory_order_acquire);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = kernels_.find(ordinal);
  return found == kernels_.end() ? nullptr : &found->second;
}

const CudaReplay::Kernels* CudaReplay::Publish(int ordinal, Kernels kernels) {
  std::lock_guard<std::mutex> lock(mutex_);
  const Kernels& kept = kernels_.try_emplace(ordinal, std::move(kernels)).first->second;
  if (ordinal >= 0 && ordinal < kFastOrdinals) {
    near_[ordinal].store(&kept, std::memory_order_release);
  }
  return &kept;
}

void CudaReplay::Preload() {
  // Values of variables are written once per device, so they wait for those that are
  // used.
  for (const std::shared_ptr<Image>& image : images_) {
    if (!image->variables().empty()) return;
  }
  // XLA numbers devices as the driver does.
  const std::optional<CUdevice> device = CurrentDevice();
  if (device) static_cast<void>(LoadHere(*device));
}

Result<const CudaReplay::Kernels*> CudaReplay::Load(CUstream stream, int ordinal) {
  if (!GetDriver().error.empty()) {
    return FailedPrecondition(plan_.op_name + ": " + GetDriver().error);
  }
  const ContextScope scope(stream);
  RETURN_IF_ERROR(scope.status());
  return LoadHere(ordinal);
}

// Several threads may load at once; all of them find the same handles.
Result<const CudaReplay::Kernels*> CudaReplay::LoadHere(int ordinal) {
  const CaptureExemption exemption;
  Result<Device> device = QueryDevice();
  if (!device.ok()) return device.status();
  Kernels kernels;
  for (const FunctionInfo& function : plan_.functions) {
    Result<CUkernel> kernel =
        LoadKernel(plan_, function, *images_[function.image], device.value());
    if (!kernel.ok()) return kernel.status();
    kernels.push_back(kernel.value());
  }
  for (const Command& command : plan_.commands) {
    const auto* launch = std::get_if<Launch>(&command);
    if (launch == nullptr) continue;
    for (const Argument& argument : launch->arguments) {
      if (argument.kind != ArgumentTag::kDynamic) continue;
      return InvalidArgument(
          KernelName(plan_, plan_.functions[launch->function]) +
          ": a scalar in memory came to a kernel that was not rewritten to read it.");
    }
    RETURN_IF_ERROR(
        PrepareLaunch(plan_, *launch, kernels[launch->function], device.value()));
  }
  ++GlobalCounters().load;
  return Publish(ordinal, std::move(kernels));
}

Status CudaReplay::Execute(CUstream stream, int ordinal, char* const* buffers) {
  const Kernels* kernels = Find(ordinal);
  if (kernels == nullptr) {
    const Result<const Kernels*> loaded = Load(stream, ordinal);
    if (!loaded.ok()) return loaded.status();
    kernels = loaded.value();
  }
  const Call call{stream, *kernels, buffers};
  if (!needs_context_) return RunAll(call);
  const ContextScope scope(stream);
  RETURN_IF_ERROR(scope.status());
  return RunAll(call);
}

Status CudaReplay::RunAll(const Call& call) const {
  if (!plan_.batch_axes.empty()) return RunBatch(call);
  for (const Step& step : steps_) RETURN_IF_ERROR(RunStep(step, call));
  return Status();
}

// All elements of a piece pass one step before the next: in one driver call where it
// can serve them, else one by one.
Status CudaReplay::RunBatch(const Call& call) const {
  Cursor cursor(plan_, call.buffers);
  uint64_t end;
  for (uint64_t piece = 0; piece < plan_.batch_elements; piece = end) {
    end = std::min(piece + plan_.at_once, plan_.batch_elements);
    Call part{call.stream, call.kernels, cursor.buffers(), piece, 1};
    for (const Step& step : steps_) {
      if (std::visit([](const auto& s) { return s.at_once; }, step)) {
        part.first = piece;
        part.count = static_cast<uint32_t>(end - piece);
        if (std::holds_alternative<PreparedLaunch>(step)) {
          cursor.Rewind(piece);
        } else {
          cursor.Seek(piece, piece);
        }
        RETURN_IF_ERROR(RunStep(step, part));
        continue;
      }
      part.count = 1;
      for (part.first = piece; part.first < end; ++part.first) {
        cursor.Seek(part.first, piece);
        RETURN_IF_ERROR(RunStep(step, part));
      }
    }
  }
  return Status();
}

Status CudaReplay::RunStep(const Step& step, const Call& call) const {
  return std::visit([&](const auto& s) { return Run(s, call); }, step);
}

Status CudaReplay::Run(const PreparedLaunch& step, const Call& call) const {
  uint64_t words[kMaxArguments];
  void* arguments[kMaxArguments];
  for (size_t i = 0; i < step.slots.size(); ++i) {
    const Slot& slot = step.slots[i];
    switch (slot.kind) {
      case ArgumentTag::kPointer:
        words[i] = reinterpret_cast<uint64_t>(call.buffers[slot.buffer] + slot.offset);
        arguments[i] = &words[i];
        break;
      case ArgumentTag::kStart:
        words[i] = call.first;
        arguments[i] = &words[i];
        break;
      default:
        arguments[i] = const_cast<void*>(slot.scalar);
    }
  }
  CUlaunchConfig config = step.config;
  config.hStream = call.stream;
  config.gridDimZ *= call.count;
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
  const Driver& driver = GetDriver();
  const bool linear =
      step.pitch.destination == step.bytes && step.pitch.source == step.bytes;
  CUresult result;
  if (call.count == 1 || linear) {
    result = driver.MemcpyDtoDAsync(place(step.destination), place(step.source),
                                    step.bytes * call.count, call.stream);
  } else {
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = place(step.source);
    copy.srcPitch = step.pitch.source;
    copy.dstDevice = place(step.destination);
    copy.dstPitch = step.pitch.destination;
    copy.WidthInBytes = step.bytes;
    copy.Height = call.count;
    result = driver.Memcpy2DAsync(&copy, call.stream);
  }
  if (result == CUDA_SUCCESS) return Status();
  return Internal(plan_.op_name + ": " + Check(result, "cuMemcpyAsync").message() +
                  "; " + Str(step.bytes) + " bytes, " + Str(call.count) + " times.");
}

Status CudaReplay::Run(const PreparedFill& step, const Call& call) const {
  if (step.count == 0) return Status();
  const Driver& driver = GetDriver();
  const auto to = reinterpret_cast<CUdeviceptr>(call.buffers[step.destination.buffer] +
                                                step.destination.offset);
  const uint64_t pitch = step.pitch.destination;
  CUresult result;
  if (call.count == 1 || pitch == step.count * step.width) {
    const uint64_t count = step.count * call.count;
    result = step.width == 4 ? driver.MemsetD32Async(to, step.value, count, call.stream)
             : step.width == 2
                 ? driver.MemsetD16Async(to, step.value, count, call.stream)
                 : driver.MemsetD8Async(to, step.value, count, call.stream);
  } else {
    const auto set = [&](auto function, auto value) {
      return function(to, pitch, value, step.count, call.count, call.stream);
    };
    result = step.width == 4   ? set(driver.MemsetD2D32Async, step.value)
             : step.width == 2 ? set(driver.MemsetD2D16Async, step.value)
                               : set(driver.MemsetD2D8Async, step.value);
  }
  if (result == CUDA_SUCCESS) return Status();
  return Internal(plan_.op_name + ": " + Check(result, "cuMemsetAsync").message() +
                  "; " + Str(step.count) + " values of " + Str(step.width) + " bytes.");
}

Status CudaReplay::Run(const PreparedWait&, const Call& call) const {
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
