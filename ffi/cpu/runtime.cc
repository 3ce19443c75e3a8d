// runtime.cc: the table of functions that compiled kernels may call.
#include "ffi/cpu/runtime.h"

namespace jax_rawcuda {

std::vector<HostSymbol> HostSymbols() { return {}; }

}  // namespace jax_rawcuda
