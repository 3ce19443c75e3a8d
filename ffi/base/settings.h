// settings.h: the environment variables that C++ reads, each checked in one place.
#pragma once

#include <optional>

#include "ffi/base/error.h"

namespace jax_rawcuda {

// They are read when they are needed: a notebook may set them later. A value that is
// not understood is an error, in the words of jax_rawcuda/_base/settings.py, which
// checks them before any kernel runs.

// JAX_RAWCUDA_DEBUG: whether to wait after each launch and name the kernel that failed.
Result<bool> DebugSetting();

// JAX_RAWCUDA_CPU_TIMEOUT: seconds that a launch on the CPU may take; nothing when
// there is no limit.
Result<std::optional<double>> CpuTimeoutSetting();

}  // namespace jax_rawcuda
