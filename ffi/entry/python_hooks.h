// python_hooks.h: the functions in Python that the handler's work needs.
#pragma once

#include <nanobind/nanobind.h>

#include "ffi/entry/handler.h"

namespace jax_rawcuda {

// Sets the functions, and the handler's hooks to their callers.
void SetPythonHooks(nanobind::object inflate, nanobind::object load_host_kernel,
                    nanobind::object verify);

// No thread may touch the interpreter from here on: it is about to end.
void LeavePython();

// The callers. They wait for the interpreter.
Hooks GetPythonHooks();

}  // namespace jax_rawcuda
