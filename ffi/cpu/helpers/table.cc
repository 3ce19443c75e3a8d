// table.cc: the table of all helpers, and those that belong to no family.
#include "ffi/cpu/helpers/table.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

#include "ffi/cpu/base/context.h"
#include "ffi/cpu/block/block.h"
#include "ffi/cpu/helpers/symbols.h"
#include "ffi/cpu/launch/faults.h"

namespace jax_rawcuda {
namespace {

// State spaces as jrc_isspace numbers them.
enum class StateSpace : int32_t { kGlobal, kShared, kLocal, kConstant, kParameter };

std::string TextAt(uint64_t address) {
  KernelMemory memory;
  std::string text = memory.Text(address);
  return memory.fault() ? "?" : text;
}

void Fail(Context* context, std::string message) {
  context->faulted = 1;
  context->block->launch().Fail(std::move(message));
}

// "thread (x,y,z), block (x,y,z) at file:line".
std::string Place(const Context* context, int32_t thread, int32_t site) {
  const auto& sites = context->block->launch().kernel.sites;
  std::string place = context->block->Describe(thread);
  if (site >= 0 && static_cast<size_t>(site) < sites.size()) {
    const std::string& text = sites[static_cast<size_t>(site)];
    place += " at " + text.substr(0, text.find(": "));  // without the instruction
  }
  return place;
}

void jrc_trap(Context* context, int32_t thread, int32_t site) {
  Fail(context, "trap in " + Place(context, thread, site) + ".");
}

// A loop has seen that the launch must end.
void jrc_stopped(Context* context, int32_t thread, int32_t site) {
  context->faulted = 1;
  context->block->launch().NotePlace(" in " + Place(context, thread, site));
}

void jrc_stack_overflow(Context* context, int32_t thread, int32_t site) {
  Fail(context, "device functions call each other too deeply in " +
                    Place(context, thread, site) + ": the stack is full.");
}

void jrc_wild_call(Context* context, int32_t thread, int32_t site) {
  Fail(context,
       "call through a pointer that holds no function of that many parameters, in " +
           Place(context, thread, site) + ".");
}

void jrc_assertfail(Context* context, int32_t thread, uint64_t message, uint64_t file,
                    uint32_t line, uint64_t function) {
  const FaultShield shield;
  Fail(context, "assertion `" + TextAt(message) + "` failed in " +
                    context->block->Describe(thread) + " at " + TextAt(file) + ":" +
                    std::to_string(line) + " (" + TextAt(function) + ").");
}

bool jrc_isspace(Context* context, uint64_t address, int32_t space) {
  const auto shared = reinterpret_cast<uint64_t>(context->shared);
  // One past the end counts: it is where an empty array at the end begins.
  const bool in_shared = address >= shared && address - shared <= context->total_shared;
  const bool in_local = context->block->OwnsLocal(address);
  switch (static_cast<StateSpace>(space)) {
    case StateSpace::kGlobal:
      return !in_shared && !in_local;
    case StateSpace::kShared:
      return in_shared;
    case StateSpace::kLocal:
      return in_local;
    default:
      return false;
  }
}

uint64_t jrc_clock() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Copies `source_size` of `size` bytes and zeroes the rest.
void jrc_cp_zfill(uint8_t* destination, const uint8_t* source, uint32_t size,
                  uint32_t source_size) {
  const uint32_t copied = std::min(size, source_size);
  std::memset(destination + copied, 0, size - copied);
  std::memcpy(destination, source, copied);
}

// Position of the n-th set bit from `base`, upwards or (n < 0) downwards; ~0: none.
uint32_t jrc_fns(uint32_t mask, uint32_t base, uint32_t n) {
  const auto offset = static_cast<int32_t>(n);
  const int32_t step = offset < 0 ? -1 : 1;
  // Of |offset| bits, the one at `base` counts as the first; 0 asks for that one only.
  const uint32_t wanted = offset == 0 ? 1 : offset < 0 ? 0u - n : n;
  uint32_t found = 0;
  for (int64_t position = base; position >= 0 && position < 32; position += step) {
    if ((mask >> position & 1) != 0 && ++found == wanted) {
      return static_cast<uint32_t>(position);
    }
    if (offset == 0) break;
  }
  return ~0u;
}

}  // namespace

std::vector<HostSymbol> HostSymbols() {
  SymbolTable table = {
      JRC_SYMBOL(jrc_trap),
      JRC_SYMBOL(jrc_assertfail),
      JRC_SYMBOL(jrc_isspace),
      JRC_SYMBOL(jrc_stopped),
      JRC_SYMBOL(jrc_stack_overflow),
      JRC_SYMBOL(jrc_wild_call),
      JRC_SYMBOL(jrc_clock),
      JRC_SYMBOL(jrc_cp_zfill),
      JRC_SYMBOL(jrc_fns),
  };
  AppendAtomics(table);
  AppendChecks(table);
  AppendClusters(table);
  AppendConversions(table);
  AppendHeap(table);
  AppendMathLibrary(table);
  AppendMbarriers(table);
  AppendPrinting(table);
  AppendRounding(table);
  return table;
}

}  // namespace jax_rawcuda
