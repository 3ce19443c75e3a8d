// replay.h: replays a plan over host buffers with kernels compiled for the host.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ffi/base/error.h"
#include "ffi/cpu/base/kernel.h"
#include "ffi/cpu/base/task_pool.h"
#include "ffi/plan/plan.h"

namespace jax_rawcuda {

struct Buffer {
  void* data;
  size_t bytes;
};

using HostKernels = std::vector<std::shared_ptr<const HostKernel>>;

// Runs `plan` to its end. `kernels` holds one entry per plan function. If the plan has
// labels, every access of the kernels is checked, and their code must be made for that.
Status ReplayOnCpu(const Plan& plan, const HostKernels& kernels, const Buffer* operands,
                   const Buffer* results, TaskPool& pool);

}  // namespace jax_rawcuda
