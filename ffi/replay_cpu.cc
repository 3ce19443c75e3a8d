// replay_cpu.cc: commands of a plan over host buffers.
#include "ffi/replay_cpu.h"

namespace jax_rawcuda {

Status ReplayOnCpu(const Plan&, const std::vector<std::shared_ptr<const HostKernel>>&,
                   const Buffer*, const Buffer*, TaskPool&) {
  return Unimplemented("The CPU backend is not built yet.");
}

}  // namespace jax_rawcuda
