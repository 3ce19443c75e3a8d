// python_hooks.cc: calls of Python, with the interpreter, and what comes back.
#include "ffi/entry/python_hooks.h"

#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "ffi/cpu/helpers/print.h"
#include "ffi/entry/host_kernel.h"
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
    auto kernel = ToHostKernel(object);
    if (kernel->parameters.size() != function.parameters.size()) {
      throw nb::value_error(
          ("the host code of '" + function.display_name +
           "' does not fit its plan: " + std::to_string(kernel->parameters.size()) +
           " parameters, " + std::to_string(function.parameters.size()) + " expected")
              .c_str());
    }
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
}

void EnterPython() { SetWakePrinter(&WakePython); }

void LeavePython() { SetWakePrinter(nullptr); }

}  // namespace jax_rawcuda
