// guard.h: bands of known bytes around a buffer of a checked call on a GPU.
#pragma once

#include <cstdint>

#include "ffi/base/error.h"
#include "ffi/cuda/driver.h"
#include "ffi/plan/plan.h"

namespace jax_rawcuda {

// Waits for the stream and compares the bands around `verify.bytes` bytes that begin
// `verify.guard` bytes after `begin`.
Status CheckGuards(const Verify& verify, const char* begin, CUstream stream);

}  // namespace jax_rawcuda
