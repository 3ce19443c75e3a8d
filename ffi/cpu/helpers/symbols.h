// symbols.h: the parts of the table that table.cc puts together.
#pragma once

#include "ffi/cpu/helpers/table.h"

namespace jax_rawcuda {

using SymbolTable = std::vector<HostSymbol>;

template <typename Function>
void* AddressOf(Function* function) {
  return reinterpret_cast<void*>(function);
}

// Arguments of 16 bits come as uint32_t with undefined upper bits: generated code does
// not extend them, and compilers differ in whether they rely on it.
void AppendAtomics(SymbolTable& table);
void AppendChecks(SymbolTable& table);
void AppendClusters(SymbolTable& table);
void AppendConversions(SymbolTable& table);
void AppendHeap(SymbolTable& table);
void AppendMathLibrary(SymbolTable& table);
void AppendMbarriers(SymbolTable& table);
void AppendPrinting(SymbolTable& table);
void AppendRounding(SymbolTable& table);

}  // namespace jax_rawcuda

// An entry named like its function.
#define JRC_SYMBOL(function) {#function, ::jax_rawcuda::AddressOf(&(function))}
