// table.h: what compiled kernels may call, by name and address.
#pragma once

#include <utility>
#include <vector>

namespace jax_rawcuda {

// A name in generated code and the function it stands for.
using HostSymbol = std::pair<const char*, void*>;

// Every function that generated code may refer to: the jrc_* helpers, the C library's
// mathematical functions and the routines that LLVM's code generator calls on its own.
std::vector<HostSymbol> HostSymbols();

}  // namespace jax_rawcuda
