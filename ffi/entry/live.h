// live.h: runs a plan at once, on addresses that the caller knows.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "ffi/base/error.h"

namespace jax_rawcuda {

class LiveProgram {
 public:
  virtual ~LiveProgram() = default;

  // Addresses of the plan's operands, then of its results. `stream` and `ordinal` say
  // where on a CUDA device; on the CPU the call returns when all is done.
  virtual Status Run(uintptr_t stream, int ordinal,
                     const std::vector<uintptr_t>& buffers) = 0;
};

enum class Platform { kCpu, kCuda };

// Decodes a plan and, on the CPU, compiles its kernels. Waits for the interpreter.
Result<std::unique_ptr<LiveProgram>> LoadLiveProgram(Platform platform,
                                                     std::string_view plan,
                                                     std::string_view images);

}  // namespace jax_rawcuda
