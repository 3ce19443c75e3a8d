#include "ffi/entry/live.h"

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "ffi/base/counters.h"
#include "ffi/cpu/replay/replay.h"
#include "ffi/plan/image.h"
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

// Threads for one launch. XLA's own pool is out of reach from a Python callback.
class LaunchThreads final : public TaskPool {
 public:
  ~LaunchThreads() override {
    for (std::thread& thread : threads_) thread.join();
  }
  int64_t num_threads() const override { return std::thread::hardware_concurrency(); }
  void Schedule(std::function<void()> task) override {
    try {
      threads_.emplace_back(std::move(task));
    } catch (const std::system_error&) {
      // The machine has no more threads: the launch goes on with those it has.
    }
  }

 private:
  std::vector<std::thread> threads_;
};

using HostKernels = std::vector<std::shared_ptr<const HostKernel>>;

class CpuProgram final : public LiveProgram {
 public:
  CpuProgram(Plan plan, HostKernels kernels)
      : plan_(std::move(plan)), kernels_(std::move(kernels)) {}

  Status Run(uintptr_t, int, const std::vector<uintptr_t>& buffers) override {
    RETURN_IF_ERROR(CheckCount(plan_, buffers.size()));
    std::vector<Buffer> pointers;
    for (const uint64_t bytes : plan_.operand_bytes)
      pointers.push_back({nullptr, bytes});
    for (const uint64_t bytes : plan_.result_bytes)
      pointers.push_back({nullptr, bytes});
    for (size_t i = 0; i < buffers.size(); ++i) {
      pointers[i].data = reinterpret_cast<void*>(buffers[i]);
    }
    LaunchThreads threads;
    return ReplayOnCpu(plan_, kernels_, pointers.data(),
                       pointers.data() + plan_.operand_bytes.size(), threads);
  }

 private:
  const Plan plan_;
  const HostKernels kernels_;
};

Result<HostKernels> LoadHostKernels(const Plan& plan, const Images& images,
                                    const Hooks& hooks) {
  HostKernels kernels;
  for (const FunctionInfo& function : plan.functions) {
    ++GlobalCounters().load_host_kernel;
    auto kernel = hooks.load_host_kernel(*images[function.image], function);
    if (!kernel.ok()) return kernel.status();
    kernels.push_back(std::move(kernel.value()));
  }
  return kernels;
}

#ifdef JAX_RAWCUDA_CUDA

class CudaProgram final : public LiveProgram {
 public:
  CudaProgram(Plan plan, Images images) : replay_(std::move(plan), std::move(images)) {}

  Status Run(uintptr_t stream, int ordinal,
             const std::vector<uintptr_t>& buffers) override {
    RETURN_IF_ERROR(CheckCount(replay_.plan(), buffers.size()));
    const auto handle = reinterpret_cast<CUstream>(stream);
    RETURN_IF_ERROR(replay_.Initialize(handle, ordinal));
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
                                                     std::string_view images,
                                                     const Hooks& hooks) {
  Result<Plan> decoded = DecodePlan(plan, images.size());
  if (!decoded.ok()) return decoded.status();
  Result<Images> loaded = AcquireImages(decoded.value(), images, hooks.inflate);
  if (!loaded.ok()) return loaded.status();
  std::unique_ptr<LiveProgram> program;
  if (platform == Platform::kCpu) {
    auto kernels = LoadHostKernels(decoded.value(), loaded.value(), hooks);
    if (!kernels.ok()) return kernels.status();
    program = std::make_unique<CpuProgram>(std::move(decoded.value()),
                                           std::move(kernels.value()));
  }
#ifdef JAX_RAWCUDA_CUDA
  if (platform == Platform::kCuda) {
    program = std::make_unique<CudaProgram>(std::move(decoded.value()),
                                            std::move(loaded.value()));
  }
#endif
  if (program == nullptr) return Unimplemented("This build has no CUDA support.");
  return program;
}

}  // namespace jax_rawcuda
