// program.h: a plan with its images and kernels, ready to be replayed.
#pragma once

#include <memory>
#include <string_view>

#include "ffi/base/error.h"
#include "ffi/cpu/replay/replay.h"
#include "ffi/plan/image.h"
#include "ffi/plan/plan.h"

namespace jax_rawcuda {

// Compiles one kernel of PTX text for the host. It waits for the Python interpreter.
using LoadHostKernelFn = Result<std::shared_ptr<const HostKernel>> (*)(
    const Image& image, const FunctionInfo& function, bool checked);

// Checks the program's attributes against the SHA-256 that stands beside them.
using VerifyFn = Status (*)(std::string_view plan, std::string_view images,
                            std::string_view digest);

// What loading a program asks of Python.
struct Hooks {
  InflateFn inflate;
  LoadHostKernelFn load_host_kernel;
  VerifyFn verify;
};

// Called once, before the first program is loaded.
void SetHooks(const Hooks& hooks);

struct Program {
  Plan plan;
  Images images;  // one per entry of `plan.images`
  bool debug;     // wait after each launch on a device
};

Status VerifyProgram(std::string_view plan, std::string_view images,
                     std::string_view digest);

// Decodes a plan and takes its images. Asks nothing of any device.
Result<Program> LoadProgram(std::string_view plan, std::string_view images);

// Compiles the kernels for the host, one per function of the plan.
Result<HostKernels> LoadHostKernels(const Program& program);

}  // namespace jax_rawcuda
