// live.cc: programs of live sessions, on each platform.
#include "ffi/entry/live.h"

#include <string>
#include <utility>

#include "ffi/cpu/base/task_pool.h"
#include "ffi/cpu/replay/replay.h"
#include "ffi/entry/program.h"
#include "ffi/plan/plan.h"

#ifdef JAX_RAWCUDA_CUDA
#include "ffi/cuda/replay.h"
#endif

namespace jax_rawcuda {
namespace {

Status CheckCount(const Plan& plan, size_t given) {
  const size_t expected = plan.operand_bytes.size() + plan.result_bytes.size();
  if (given == expected) return Status();
  return InvalidArgument(plan.op_name + ": " + std::to_string(given) +
                         " buffers; the plan has " + std::to_string(expected) + ".");
}

class CpuProgram final : public LiveProgram {
 public:
  CpuProgram(Program program, HostKernels kernels)
      : program_(std::move(program)), kernels_(std::move(kernels)) {}

  Status Run(uintptr_t, int, const std::vector<uintptr_t>& buffers) override {
    const Plan& plan = program_.plan;
    RETURN_IF_ERROR(CheckCount(plan, buffers.size()));
    std::vector<Buffer> pointers;
    for (const uint64_t bytes : plan.operand_bytes)
      pointers.push_back({nullptr, bytes});
    for (const uint64_t bytes : plan.result_bytes) pointers.push_back({nullptr, bytes});
    for (size_t i = 0; i < buffers.size(); ++i) {
      pointers[i].data = reinterpret_cast<void*>(buffers[i]);
    }
    OwnThreads threads;  // XLA's pool is out of reach from a Python callback
    return ReplayOnCpu(plan, kernels_, pointers.data(),
                       pointers.data() + plan.operand_bytes.size(), threads);
  }

 private:
  const Program program_;
  const HostKernels kernels_;
};

#ifdef JAX_RAWCUDA_CUDA

class CudaProgram final : public LiveProgram {
 public:
  explicit CudaProgram(Program program)
      : replay_(std::move(program.plan), std::move(program.images), program.debug) {}

  Status Run(uintptr_t stream, int ordinal,
             const std::vector<uintptr_t>& buffers) override {
    RETURN_IF_ERROR(CheckCount(replay_.plan(), buffers.size()));
    const auto handle = reinterpret_cast<CUstream>(stream);
    std::vector<char*> pointers;
    for (const uintptr_t address : buffers) {
      pointers.push_back(reinterpret_cast<char*>(address));
    }
    return replay_.Execute(handle, ordinal, pointers.data());
  }

 private:
  CudaReplay replay_;
};

#endif  // JAX_RAWCUDA_CUDA

}  // namespace

Result<std::unique_ptr<LiveProgram>> LoadLiveProgram(Platform platform,
                                                     std::string_view plan,
                                                     std::string_view images) {
  Result<Program> program = LoadProgram(plan, images);
  if (!program.ok()) return program.status();
  std::unique_ptr<LiveProgram> live;
  if (platform == Platform::kCpu) {
    Result<HostKernels> kernels = LoadHostKernels(program.value());
    if (!kernels.ok()) return kernels.status();
    live = std::make_unique<CpuProgram>(std::move(program.value()),
                                        std::move(kernels.value()));
    return live;
  }
#ifdef JAX_RAWCUDA_CUDA
  live = std::make_unique<CudaProgram>(std::move(program.value()));
  return live;
#else
  return Unimplemented("This build has no CUDA support.");
#endif
}

}  // namespace jax_rawcuda
