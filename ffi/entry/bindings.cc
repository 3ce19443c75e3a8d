// bindings.cc: the Python module _ffi.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ffi/base/counters.h"
#include "ffi/base/text.h"
#include "ffi/cpu/base/kernel.h"
#include "ffi/cpu/base/task_pool.h"
#include "ffi/cpu/helpers/table.h"
#include "ffi/cpu/schedule/scheduler.h"
#include "ffi/entry/handler.h"
#include "ffi/entry/host_kernel.h"
#include "ffi/entry/live.h"
#include "ffi/entry/python_hooks.h"
#include "ffi/plan/plan.h"

namespace nb = nanobind;

namespace jax_rawcuda {
namespace {

nb::capsule Capsule(void* address) { return nb::capsule(address); }

std::string_view View(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

nb::dict ToDict(const StateType& type) {
  nb::dict result;
  result["type_id"] = Capsule(type.id);
  result["type_info"] = Capsule(type.info);
  return result;
}

nb::dict ToDict(const Handlers& handlers) {
  nb::dict result;
  result["instantiate"] = Capsule(handlers.instantiate);
  result["execute"] = Capsule(handlers.execute);
  return result;
}

nb::dict Types() {
  nb::dict result;
  result["cpu"] = ToDict(CpuStateType());
#ifdef JAX_RAWCUDA_CUDA
  result["CUDA"] = ToDict(CudaStateType());
#endif
  return result;
}

nb::dict AllHandlers() {
  nb::dict cpu, result;
  cpu["session"] = ToDict(CpuHandlers());
  cpu["session_sync"] = ToDict(CpuHandlers());
  result["cpu"] = cpu;
#ifdef JAX_RAWCUDA_CUDA
  nb::dict cuda;
  cuda["session"] = ToDict(CudaHandlers(/*capturable=*/true));
  cuda["session_sync"] = ToDict(CudaHandlers(/*capturable=*/false));
  result["CUDA"] = cuda;
#endif
  return result;
}

std::string GetDriverStatus() {
#ifdef JAX_RAWCUDA_CUDA
  return DriverStatus();
#else
  return "This platform has no CUDA driver.";
#endif
}

nb::dict HostSymbolAddresses() {
  nb::dict result;
  for (const auto& [name, address] : HostSymbols()) {
    result[name] = reinterpret_cast<uintptr_t>(address);
  }
  return result;
}

nb::dict ReadCounters() {
  const Counters& counters = GlobalCounters();
  nb::dict result;
  result["instantiate"] = counters.instantiate.load();
  result["live"] = counters.live.load();
  result["inflate"] = counters.inflate.load();
  result["images"] = counters.images.load();
  result["load_host_kernel"] = counters.load_host_kernel.load();
  result["load"] = counters.load.load();
  result["library_load"] = counters.library_load.load();
  result["library_unload"] = counters.library_unload.load();
  return result;
}

nb::tuple ToTuple(const Status& status) {
  static constexpr const char* kNames[] = {"", "invalid", "failed", "unsupported",
                                           "failed"};
  return nb::make_tuple(kNames[static_cast<int>(status.code())], status.message());
}

nb::object LoadProgram(const std::string& platform, nb::bytes plan, nb::bytes images) {
  auto program = LoadLiveProgram(platform == "cpu" ? Platform::kCpu : Platform::kCuda,
                                 View(plan), View(images));
  if (!program.ok()) return ToTuple(program.status());
  return nb::cast(std::move(program.value()));
}

nb::tuple RunProgram(LiveProgram& program, uintptr_t stream, int ordinal,
                     const std::vector<uintptr_t>& buffers) {
  Status status;
  {
    nb::gil_scoped_release release;
    status = program.Run(stream, ordinal, buffers);
  }
  return ToTuple(status);
}

// Raises the package's own exception of that kind.
void RaiseUnlessOk(const Status& status) {
  const char* name = "BackendError";
  switch (status.code()) {
    case Code::kOk:
      return;
    case Code::kInvalidArgument:
      name = "ValidationError";
      break;
    case Code::kUnimplemented:
      name = "UnsupportedError";
      break;
    case Code::kFailedPrecondition:
    case Code::kInternal:
      break;
  }
  const nb::object type = nb::module_::import_("jax_rawcuda._base.errors").attr(name);
  PyErr_SetString(type.ptr(), status.message().c_str());
  throw nb::python_error();
}

void LaunchHostKernel(nb::handle object, nb::bytes parameters, const Extent& grid,
                      const Extent& block, const Extent& cluster,
                      uint32_t shared_mem_bytes, bool cooperative) {
  const std::shared_ptr<const HostKernel> kernel = ToHostKernel(object);
  if (parameters.size() != kernel->parameter_bytes) {
    RaiseUnlessOk(InvalidArgument(kernel->name + ": " +
                                  std::to_string(parameters.size()) +
                                  " bytes of parameters; it has " +
                                  std::to_string(kernel->parameter_bytes) + "."));
  }
  // Of words, as its parameters are aligned.
  std::vector<uint64_t> words(ParameterBytes(*kernel) / sizeof(uint64_t) + 1);
  std::memcpy(words.data(), parameters.c_str(), parameters.size());
  const Parameters bytes{reinterpret_cast<const uint8_t*>(words.data())};
  const LaunchConfig config{kernel->name,     grid,        block,
                            shared_mem_bytes, cooperative, cluster};
  Status status;
  {
    nb::gil_scoped_release release;
    OwnThreads threads;
    status = LaunchGrid(*kernel, bytes, config, threads);
  }
  if (PyErr_CheckSignals() != 0) throw nb::python_error();  // Ctrl-C has stopped it
  RaiseUnlessOk(status);
}

std::string CheckPlan(nb::bytes plan, nb::bytes images) {
  const Result<Plan> decoded = DecodePlan(View(plan), images.size());
  return decoded.ok() ? "" : decoded.status().message();
}

}  // namespace
}  // namespace jax_rawcuda

NB_MODULE(_ffi, m) {
  using namespace jax_rawcuda;  // NOLINT: this function only names its contents
  const ApiVersion version = XlaFfiApiVersion();
  m.doc() = "The XLA FFI handlers of jax_rawcuda, and what Python must give them.";
  m.attr("API_VERSION") = nb::make_tuple(version.major, version.minor);
  m.def("types", &Types, "Returns the state type of each platform, for registration.");
  m.def("handlers", &AllHandlers, "Returns the handlers: platform, target, stage.");
  m.def("set_hooks", &SetPythonHooks, nb::arg("inflate"), nb::arg("load_host_kernel"),
        nb::arg("verify"), "Sets the functions that instantiation calls.");
  m.def("host_symbols", &HostSymbolAddresses,
        "Returns the addresses of the functions that host code may call.");
  m.def("driver_status", &GetDriverStatus, nb::call_guard<nb::gil_scoped_release>(),
        "Loads the CUDA driver. Returns why it cannot be used, or '' when it can.");
  m.def("counters", &ReadCounters, "Returns how often the slow things happened.");
  nb::class_<LiveProgram>(m, "Program", "A plan that runs at once.")
      .def("run", &RunProgram, nb::arg("stream"), nb::arg("ordinal"),
           nb::arg("buffers"),
           "Runs it on addresses. Returns what failed, or '', and a text.");
  m.def("load_program", &LoadProgram, nb::arg("platform"), nb::arg("plan"),
        nb::arg("images"), "Returns a Program, or what failed and a text.");
  m.def("launch_host_kernel", &LaunchHostKernel, nb::arg("kernel"),
        nb::arg("parameters"), nb::arg("grid"), nb::arg("block"),
        nb::arg("cluster") = Extent{}, nb::arg("shared_mem_bytes") = 0,
        nb::arg("cooperative") = false,
        "Runs a kernel on threads of its own; returns after its last block.");
  m.def("check_plan", &CheckPlan, nb::arg("plan"), nb::arg("images"),
        "Decodes a plan. Returns what is wrong with it, or ''.");
  EnterPython();
  // Kernels that still run when the interpreter ends must not ask it to print.
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&LeavePython));
}
