// handler.h: the XLA FFI handlers, as addresses for registration.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ffi/base/error.h"
#include "ffi/cpu/replay/replay.h"
#include "ffi/plan/image.h"
#include "ffi/plan/plan.h"

namespace jax_rawcuda {

// Compiles one kernel of PTX text for the host. It waits for the Python interpreter.
using LoadHostKernelFn = Result<std::shared_ptr<const HostKernel>> (*)(
    const Image& image, const FunctionInfo& function);

// Checks the program's attributes against the SHA-256 that stands beside them.
using VerifyFn = Status (*)(std::string_view plan, std::string_view images,
                            std::string_view digest);

struct Hooks {
  InflateFn inflate;
  LoadHostKernelFn load_host_kernel;
  VerifyFn verify;
};

// Called once, before XLA can reach a handler.
void SetHooks(const Hooks& hooks);

// The stages of one target on one platform. `initialize` is null on the CPU.
struct Handlers {
  void* instantiate;
  void* initialize;
  void* execute;
};

// The type of the state that `instantiate` makes.
struct StateType {
  void* id;
  void* info;
};

struct ApiVersion {
  int major, minor;
};

ApiVersion XlaFfiApiVersion();
StateType CpuStateType();
Handlers CpuHandlers();

// What follows exists where JAX_RAWCUDA_CUDA is defined: where NVIDIA has drivers.
std::string DriverStatus();
StateType CudaStateType();
// `capturable`: XLA may record the calls in a CUDA graph.
Handlers CudaHandlers(bool capturable);

}  // namespace jax_rawcuda
