// host_kernel.h: kernels that Python has compiled, as the scheduler reads them.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "ffi/cpu/base/kernel.h"

namespace jax_rawcuda {

// Reads a HostKernel of jax_rawcuda/cpu/jit.py. Its machine code stays that object's.
// Throws Python's exceptions where the object is not one.
std::shared_ptr<const HostKernel> ToHostKernel(nanobind::handle object);

}  // namespace jax_rawcuda
