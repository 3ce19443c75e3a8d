// program.cc: from the bytes of a plan to what replays it; for handlers and live
// sessions alike.
#include "ffi/entry/program.h"

#include <utility>

#include "ffi/base/counters.h"
#include "ffi/base/settings.h"

namespace jax_rawcuda {
namespace {

Hooks& GlobalHooks() {
  static Hooks hooks{};
  return hooks;
}

}  // namespace

void SetHooks(const Hooks& hooks) { GlobalHooks() = hooks; }

Status VerifyProgram(std::string_view plan, std::string_view images,
                     std::string_view digest) {
  return GlobalHooks().verify(plan, images, digest);
}

Result<Program> LoadProgram(std::string_view plan, std::string_view images) {
  Result<Plan> decoded = DecodePlan(plan, images.size());
  if (!decoded.ok()) return decoded.status();
  Result<Images> loaded = AcquireImages(decoded.value(), images, GlobalHooks().inflate);
  if (!loaded.ok()) return loaded.status();
  const Result<bool> debug = DebugSetting();
  if (!debug.ok()) return debug.status();
  return Program{std::move(decoded.value()), std::move(loaded.value()), debug.value()};
}

Result<HostKernels> LoadHostKernels(const Program& program) {
  HostKernels kernels;
  const Plan& plan = program.plan;
  for (const FunctionInfo& function : plan.functions) {
    if (plan.images[function.image].kind == ImageKind::kCubin) {
      return Unimplemented(
          plan.op_name + ": kernel '" + function.display_name +
          "' is a cubin, which only a CUDA device can run. Give its source or PTX.");
    }
    ++GlobalCounters().load_host_kernel;
    Result<std::shared_ptr<const HostKernel>> kernel = GlobalHooks().load_host_kernel(
        *program.images[function.image], function, plan.labels != nullptr);
    if (!kernel.ok()) return kernel.status();
    kernels.push_back(std::move(kernel.value()));
  }
  return kernels;
}

}  // namespace jax_rawcuda
