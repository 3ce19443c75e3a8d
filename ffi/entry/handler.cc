// handler.cc: the stages that XLA calls, on each platform.
#include "ffi/entry/handler.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "ffi/base/counters.h"
#include "ffi/cpu/base/task_pool.h"
#include "ffi/cpu/replay/replay.h"
#include "ffi/entry/program.h"
#include "xla/ffi/api/ffi.h"

#ifdef JAX_RAWCUDA_CUDA
#include "ffi/cuda/driver.h"
#include "ffi/cuda/replay.h"
#endif

namespace jax_rawcuda {
namespace {

namespace ffi = xla::ffi;

constexpr int64_t kAbi = 2;

ffi::Error ToError(const Status& status) {
  switch (status.code()) {
    case Code::kOk:
      return ffi::Error::Success();
    case Code::kInvalidArgument:
      return ffi::Error(ffi::ErrorCode::kInvalidArgument, status.message());
    case Code::kFailedPrecondition:
      return ffi::Error(ffi::ErrorCode::kFailedPrecondition, status.message());
    case Code::kUnimplemented:
      return ffi::Error(ffi::ErrorCode::kUnimplemented, status.message());
    case Code::kInternal:
      break;
  }
  return ffi::Error(ffi::ErrorCode::kInternal, status.message());
}

template <typename T>
Result<T> Attribute(const ffi::Dictionary& attributes, const char* name) {
  ffi::ErrorOr<T> value = attributes.get<T>(name);
  if (value.has_value()) return *value;
  return InvalidArgument("jax_rawcuda: attribute '" + std::string(name) +
                         "' of the custom call: " + value.error().message() +
                         ". The program was not written by jax_rawcuda.");
}

Result<Program> DecodeProgram(const ffi::Dictionary& attributes) {
  const Result<int64_t> abi = Attribute<int64_t>(attributes, "abi");
  if (!abi.ok()) return abi.status();
  if (abi.value() != kAbi) {
    return Unimplemented(
        "jax_rawcuda: the program holds a plan of layout " +
        std::to_string(abi.value()) + "; this version reads layout " +
        std::to_string(kAbi) + ". " +
        (abi.value() > kAbi ? "Upgrade jax_rawcuda." : "Export or compile it again."));
  }
  const auto plan = Attribute<std::string_view>(attributes, "plan");
  if (!plan.ok()) return plan.status();
  const auto stored = Attribute<std::string_view>(attributes, "images");
  if (!stored.ok()) return stored.status();
  const auto digest = Attribute<std::string_view>(attributes, "digest");
  if (!digest.ok()) return digest.status();
  RETURN_IF_ERROR(VerifyProgram(plan.value(), stored.value(), digest.value()));
  Result<Program> program = LoadProgram(plan.value(), stored.value());
  if (program.ok()) ++GlobalCounters().instantiate;
  return program;
}

struct LiveCount {
  LiveCount() { ++GlobalCounters().live; }
  ~LiveCount() { --GlobalCounters().live; }
};

// States have ids of our own choice. XLA would give one while it registers the type,
// but jaxlib registers queued CPU handlers before queued types, and a handler whose
// state has no id yet keeps the whole CPU backend from starting.
struct CpuState {
  inline static ffi::TypeId id{0x6a72637570000001};

  LiveCount live;
  Program program;
  HostKernels kernels;
};

constexpr ffi::TypeInfo kCpuStateInfo = ffi::MakeTypeInfo<CpuState>();

ffi::Error WrongCount(const Plan& plan, const char* what, size_t given,
                      size_t expected) {
  return ffi::Error::InvalidArgument(plan.op_name + ": " + std::to_string(given) + " " +
                                     what + "; the plan has " +
                                     std::to_string(expected) + ".");
}

ffi::Error TooSmall(const Plan& plan, const char* what, size_t index, uint64_t given,
                    uint64_t expected) {
  return ffi::Error::InvalidArgument(plan.op_name + ": " + what + " " +
                                     std::to_string(index) + " has " +
                                     std::to_string(given) + " bytes; the plan needs " +
                                     std::to_string(expected) + ".");
}

ffi::DataType ElementType(ffi::AnyBuffer operand) { return operand.element_type(); }

ffi::DataType ElementType(ffi::Result<ffi::AnyBuffer> result) {
  return result->element_type();
}

// Whether there is one buffer more than the plan has, for XLA's order of side effects.
template <typename Buffers>
bool StartsWithToken(const Buffers& buffers, size_t expected) {
  if (buffers.size() != expected + 1) return false;
  const auto first = buffers.template get<ffi::AnyBuffer>(0);
  return first.has_value() && ElementType(*first) == ffi::DataType::TOKEN;
}

// Calls `take(data, bytes)` for each operand, then for each result, after checking
// them.
template <typename Take>
ffi::Error ForEachBuffer(const Plan& plan, const ffi::RemainingArgs& operands,
                         const ffi::RemainingRets& results, const Take& take) {
  const size_t n_operands = plan.operand_extents.size();
  const size_t n_results = plan.result_extents.size();
  const size_t first_operand = StartsWithToken(operands, n_operands) ? 1 : 0;
  const size_t first_result = StartsWithToken(results, n_results) ? 1 : 0;
  if (operands.size() != first_operand + n_operands) {
    return WrongCount(plan, "operands", operands.size(), n_operands);
  }
  if (results.size() != first_result + n_results) {
    return WrongCount(plan, "results", results.size(), n_results);
  }
  for (size_t i = 0; i < n_operands; ++i) {
    const ffi::ErrorOr<ffi::AnyBuffer> buffer =
        operands.get<ffi::AnyBuffer>(first_operand + i);
    if (buffer.has_error()) return buffer.error();
    const size_t bytes = buffer->size_bytes();
    if (bytes < plan.operand_extents[i]) {
      return TooSmall(plan, "operand", i, bytes, plan.operand_extents[i]);
    }
    take(buffer->untyped_data(), bytes);
  }
  for (size_t i = 0; i < n_results; ++i) {
    ffi::ErrorOr<ffi::Result<ffi::AnyBuffer>> buffer =
        results.get<ffi::AnyBuffer>(first_result + i);
    if (buffer.has_error()) return buffer.error();
    const size_t bytes = (*buffer)->size_bytes();
    const auto address = reinterpret_cast<uintptr_t>((*buffer)->untyped_data());
    const size_t skipped = -address & (plan.result_alignments[i] - 1);
    if (bytes < plan.result_extents[i] + skipped) {
      return TooSmall(plan, "result", i, bytes, plan.result_extents[i] + skipped);
    }
    take(reinterpret_cast<void*>(address + skipped), bytes - skipped);
  }
  return ffi::Error::Success();
}

ffi::ErrorOr<std::unique_ptr<CpuState>> InstantiateCpu(ffi::Dictionary attributes) {
  Result<Program> program = DecodeProgram(attributes);
  if (!program.ok()) return ffi::Unexpected(ToError(program.status()));
  Result<HostKernels> kernels = LoadHostKernels(program.value());
  if (!kernels.ok()) return ffi::Unexpected(ToError(kernels.status()));
  auto state = std::make_unique<CpuState>();
  state->program = std::move(program.value());
  state->kernels = std::move(kernels.value());
  return state;
}

class XlaTaskPool final : public TaskPool {
 public:
  explicit XlaTaskPool(ffi::ThreadPool& pool) : pool_(pool) {}
  int64_t num_threads() const override { return pool_.num_threads(); }
  void Schedule(std::function<void()> task) override {
    pool_.Schedule(std::move(task));
  }

 private:
  ffi::ThreadPool& pool_;
};

ffi::Error ExecuteCpu(ffi::ThreadPool pool, CpuState* state,
                      ffi::RemainingArgs operands, ffi::RemainingRets results) {
  const Plan& plan = state->program.plan;
  Buffer buffers[kMaxBuffers];
  Buffer* next = buffers;
  ffi::Error error =
      ForEachBuffer(plan, operands, results,
                    [&](void* data, size_t bytes) { *next++ = Buffer{data, bytes}; });
  if (error.failure()) return error;
  XlaTaskPool tasks(pool);
  return ToError(ReplayOnCpu(plan, state->kernels, buffers,
                             buffers + plan.operand_bytes.size(), tasks));
}

XLA_FFI_DEFINE_HANDLER(kInstantiateCpu, InstantiateCpu,
                       ffi::Ffi::BindInstantiate().Attrs());
XLA_FFI_DEFINE_HANDLER(kExecuteCpu, ExecuteCpu,
                       ffi::Ffi::BindExecute()
                           .Ctx<ffi::ThreadPool>()
                           .Ctx<ffi::State<CpuState>>()
                           .RemainingArgs()
                           .RemainingRets());

void* Address(XLA_FFI_Handler* handler) { return reinterpret_cast<void*>(handler); }

template <typename State>
StateType TypeOf(const ffi::TypeInfo& info) {
  return StateType{&State::id, const_cast<ffi::TypeInfo*>(&info)};
}

#ifdef JAX_RAWCUDA_CUDA

struct CudaState {
  inline static ffi::TypeId id{0x6a72637570000002};

  explicit CudaState(Program program)
      : replay(std::move(program.plan), std::move(program.images), program.debug) {}

  LiveCount live;
  CudaReplay replay;
};

constexpr ffi::TypeInfo kCudaStateInfo = ffi::MakeTypeInfo<CudaState>();

// This also runs where there is no GPU, or for another one.
ffi::ErrorOr<std::unique_ptr<CudaState>> InstantiateCuda(ffi::Dictionary attributes) {
  Result<Program> program = DecodeProgram(attributes);
  if (!program.ok()) return ffi::Unexpected(ToError(program.status()));
  auto state = std::make_unique<CudaState>(std::move(program.value()));
  state->replay.Preload();
  return state;
}

ffi::Error ExecuteCuda(CUstream stream, int32_t ordinal, CudaState* state,
                       ffi::RemainingArgs operands, ffi::RemainingRets results) {
  char* buffers[kMaxBuffers];
  char** next = buffers;
  ffi::Error error =
      ForEachBuffer(state->replay.plan(), operands, results,
                    [&](void* data, size_t) { *next++ = static_cast<char*>(data); });
  if (error.failure()) return error;
  return ToError(state->replay.Execute(stream, ordinal, buffers));
}

XLA_FFI_DEFINE_HANDLER(kInstantiateCuda, InstantiateCuda,
                       ffi::Ffi::BindInstantiate().Attrs());

auto BindExecuteCuda() {
  return ffi::Ffi::BindExecute()
      .Ctx<ffi::PlatformStream<CUstream>>()
      .Ctx<ffi::DeviceOrdinal>()
      .Ctx<ffi::State<CudaState>>()
      .RemainingArgs()
      .RemainingRets();
}

XLA_FFI_DEFINE_HANDLER(kExecuteCuda, ExecuteCuda, BindExecuteCuda(),
                       {ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER(kExecuteCudaSync, ExecuteCuda, BindExecuteCuda());

#endif  // JAX_RAWCUDA_CUDA

}  // namespace

ApiVersion XlaFfiApiVersion() { return {XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR}; }

StateType CpuStateType() { return TypeOf<CpuState>(kCpuStateInfo); }

Handlers CpuHandlers() { return {Address(kInstantiateCpu), Address(kExecuteCpu)}; }

#ifdef JAX_RAWCUDA_CUDA

std::string DriverStatus() { return GetDriver().error; }

StateType CudaStateType() { return TypeOf<CudaState>(kCudaStateInfo); }

Handlers CudaHandlers(bool capturable) {
  return {Address(kInstantiateCuda),
          Address(capturable ? kExecuteCuda : kExecuteCudaSync)};
}

#endif  // JAX_RAWCUDA_CUDA

}  // namespace jax_rawcuda
