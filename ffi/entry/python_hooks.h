// python_hooks.h: the functions in Python that the handler's work needs.
#pragma once

#include <nanobind/nanobind.h>

namespace jax_rawcuda {

// Sets the functions, and the hooks of programs to their callers.
void SetPythonHooks(nanobind::object inflate, nanobind::object load_host_kernel,
                    nanobind::object verify);

// Threads may ask the interpreter to print from here on.
void EnterPython();

// No thread may touch the interpreter from here on: it is about to end.
void LeavePython();

}  // namespace jax_rawcuda
