// python_hooks.cc: calls of Python, with the interpreter, and what comes back.
#include "ffi/entry/python_hooks.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ffi/cpu/helpers/print.h"
#include "ffi/entry/program.h"

namespace nb = nanobind;

namespace jax_rawcuda {
namespace {

struct PythonHooks {
  nb::object inflate;
  nb::object load_host_kernel;
  nb::object verify;
};

PythonHooks& GlobalPythonHooks() {
  static auto* hooks =
      new PythonHooks();  // leaked: the interpreter may be gone at exit
  return *hooks;
}

nb::bytes Bytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }

// "TypeName: message", without the traceback: XLA repeats it as an exception's text.
Status FromPython(const nb::python_error& error) {
  Code code = Code::kInternal;
  if (error.matches(PyExc_NotImplementedError)) code = Code::kUnimplemented;
  if (error.matches(PyExc_ValueError)) code = Code::kInvalidArgument;
  const nb::str type(nb::object(error.type().attr("__name__")));
  return Status(code,
                std::string(type.c_str()) + ": " + nb::str(error.value()).c_str());
}

// Runs `call` with the interpreter; its exceptions become a Status. XLA's threads may
// still compile when the interpreter ends.
template <typename T, typename Call>
Result<T> WithPython(const Call& call) {
  if (!nb::is_alive()) {
    return FailedPrecondition("jax_rawcuda: the Python interpreter has ended.");
  }
  nb::gil_scoped_acquire gil;
  try {
    return call();
  } catch (const nb::python_error& error) {
    return FromPython(error);
  } catch (const std::exception& error) {
    return Internal(std::string("jax_rawcuda: in a Python hook: ") + error.what());
  }
}

Result<std::string> Inflate(std::string_view stored, const Digest& digest) {
  return WithPython<std::string>([&] {
    const nb::bytes digest_bytes(digest.data(), digest.size());
    const auto raw =
        nb::cast<nb::bytes>(GlobalPythonHooks().inflate(Bytes(stored), digest_bytes));
    return std::string(raw.c_str(), raw.size());
  });
}

Status VerifyDigest(std::string_view plan, std::string_view images,
                    std::string_view digest) {
  const auto verified = WithPython<bool>([&] {
    const nb::str expected(digest.data(), digest.size());
    GlobalPythonHooks().verify(Bytes(plan), Bytes(images), expected);
    return true;
  });
  return verified.ok() ? Status() : verified.status();
}

template <typename T>
T Get(nb::handle object, const char* name) {
  return nb::cast<T>(object.attr(name));
}

SyncPoint ToSyncPoint(nb::handle object) {
  const auto fields = nb::cast<std::vector<int64_t>>(object);
  if (fields.size() != 8) throw nb::value_error("a synchronisation point has 8 fields");
  const auto field = [&](int i) { return static_cast<int32_t>(fields[i]); };
  return SyncPoint{field(0), field(1), field(2), field(3),
                   field(4), field(5), field(6), field(7)};
}

std::vector<HostKernel::Variable> ToVariables(nb::handle list) {
  std::vector<HostKernel::Variable> variables;
  for (nb::handle each : list) {
    variables.push_back({Get<std::string>(each, "name"), Get<uint64_t>(each, "place"),
                         Get<uint64_t>(each, "size"), Get<uint32_t>(each, "item_bytes"),
                         Get<bool>(each, "writable")});
  }
  return variables;
}

std::shared_ptr<const HostKernel> ToHostKernel(nb::handle object,
                                               const FunctionInfo& function) {
  auto kernel = std::make_shared<HostKernel>();
  kernel->name = function.display_name;
  for (const uint64_t address : Get<std::vector<uint64_t>>(object, "regions")) {
    kernel->regions.push_back(reinterpret_cast<RegionFunction>(address));
  }
  for (nb::handle sync : object.attr("syncs")) {
    kernel->syncs.push_back(ToSyncPoint(sync));
  }
  kernel->sync_texts = Get<std::vector<std::string>>(object, "sync_texts");
  kernel->sites = Get<std::vector<std::string>>(object, "sites");
  kernel->slot_bytes = Get<int64_t>(object, "slot_bytes");
  kernel->frame_bytes = Get<int64_t>(object, "frame_bytes");
  kernel->shared_bytes = Get<int64_t>(object, "shared_bytes");
  kernel->sync_inputs = Get<int32_t>(object, "n_in");
  kernel->sync_outputs = Get<int32_t>(object, "n_out");
  using OffsetAndSize = std::pair<uint32_t, uint32_t>;
  for (const auto& [offset, size] : Get<std::vector<OffsetAndSize>>(object, "params")) {
    kernel->parameters.push_back({offset, size});
  }
  kernel->parameter_bytes = Get<uint32_t>(object, "param_bytes");
  kernel->spin_budget = Get<int32_t>(object, "spin_budget");
  kernel->max_threads = Get<uint32_t>(object, "max_threads");
  const auto cluster = Get<std::vector<uint32_t>>(object, "cluster");
  for (size_t axis = 0; axis < 3; ++axis) kernel->cluster[axis] = cluster.at(axis);
  if (nb::object checks = nb::getattr(object, "checks", nb::none());
      !checks.is_none()) {
    kernel->shared_variables = ToVariables(checks.attr("shared"));
    kernel->local_variables = ToVariables(checks.attr("local"));
    kernel->global_variables = ToVariables(checks.attr("globals"));
    kernel->red_zone_bytes = Get<uint64_t>(checks, "red_zone_bytes");
    for (nb::handle sites : checks.attr("passed_sites")) {
      const auto bits = nb::cast<nb::bytes>(sites);
      kernel->passed_sites.emplace_back(bits.c_str(), bits.size());
    }
    kernel->origins = Get<std::vector<uint32_t>>(checks, "origins");
  }
  if (kernel->regions.empty() || kernel->regions.size() != kernel->syncs.size() ||
      kernel->parameters.size() != function.parameters.size()) {
    throw nb::value_error(
        ("the host code of '" + function.display_name +
         "' does not fit its plan: " + std::to_string(kernel->parameters.size()) +
         " parameters, " + std::to_string(function.parameters.size()) + " expected")
            .c_str());
  }
  return kernel;
}

Result<std::shared_ptr<const HostKernel>> LoadHostKernel(const Image& image,
                                                         const FunctionInfo& function,
                                                         bool checked) {
  return WithPython<std::shared_ptr<const HostKernel>>([&] {
    nb::dict values;
    for (const VariableValue& variable : image.variables()) {
      values[variable.symbol.c_str()] = Bytes(variable.bytes);
    }
    nb::object object = GlobalPythonHooks().load_host_kernel(
        Bytes(image.bytes()), function.lowered_name, values, checked);
    auto kernel = ToHostKernel(object, function);
    // The machine code belongs to the Python object. It stays for the process, since an
    // executable may be freed where waiting for the interpreter would deadlock.
    object.release();
    return kernel;
  });
}

// Runs in the interpreter's main thread, between two of its instructions.
int WritePrinted(void*) {
  const std::string text = TakePrinted();
  if (text.empty()) return 0;
  try {
    nb::object out = nb::module_::import_("sys").attr("stdout");
    if (out.is_none()) return 0;
    out.attr("write")(Bytes(text).attr("decode")("utf-8", "replace"));
    out.attr("flush")();
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("printf in a kernel");
  }
  return 0;
}

bool WakePython() { return Py_AddPendingCall(&WritePrinted, nullptr) == 0; }

}  // namespace

void SetPythonHooks(nb::object inflate, nb::object load_host_kernel,
                    nb::object verify) {
  GlobalPythonHooks() = {std::move(inflate), std::move(load_host_kernel),
                         std::move(verify)};
  SetHooks({&Inflate, &LoadHostKernel, &VerifyDigest});
  SetWakePrinter(&WakePython);
}

void LeavePython() { SetWakePrinter(nullptr); }

}  // namespace jax_rawcuda
