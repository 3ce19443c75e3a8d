// checks.cc: what the code of checked kernels calls.
#include <cstdint>

#include "ffi/cpu/block/block.h"
#include "ffi/cpu/check/block.h"
#include "ffi/cpu/helpers/symbols.h"

namespace jax_rawcuda {
namespace {

// Code of a checked kernel also runs without checks, in a plan that does not ask for
// them.
BlockChecks* ChecksOf(Context* context) { return context->block->checks(); }

// Whether the access may happen. If not, the thread must end.
bool jrc_check_access(Context* context, uint64_t address, uint64_t bytes,
                      uint32_t flags, uint32_t thread, uint32_t site) {
  BlockChecks* const checks = ChecksOf(context);
  if (checks == nullptr) return true;
  if (context->faulted == 0 && checks->Allow({address, bytes, flags, thread, site})) {
    return true;
  }
  context->faulted = 1;
  return false;
}

void jrc_check_fence(Context* context, uint32_t thread, uint32_t in_block) {
  if (BlockChecks* const checks = ChecksOf(context)) {
    checks->Fence(thread, in_block != 0);
  }
}

uint64_t jrc_check_mark(Context* context) {
  BlockChecks* const checks = ChecksOf(context);
  return checks == nullptr ? 0 : checks->stack_size();
}

void jrc_check_push(Context* context, uint64_t begin, uint64_t size) {
  if (BlockChecks* const checks = ChecksOf(context)) checks->PushStack(begin, size);
}

void jrc_check_pop(Context* context, uint64_t mark) {
  if (BlockChecks* const checks = ChecksOf(context)) checks->PopStack(mark);
}

uint64_t jrc_check_malloc(Context* context, uint64_t size) {
  BlockChecks* const checks = ChecksOf(context);
  return checks == nullptr ? 0 : checks->Allocate(size);
}

void jrc_check_free(Context* context, uint64_t address, uint32_t thread,
                    uint32_t site) {
  BlockChecks* const checks = ChecksOf(context);
  if (checks == nullptr) return;
  checks->Free(address, thread, site);
  if (context->block->launch().stopped()) context->faulted = 1;
}

}  // namespace

void AppendChecks(SymbolTable& table) {
  table.insert(table.end(), {
                                JRC_SYMBOL(jrc_check_access),
                                JRC_SYMBOL(jrc_check_fence),
                                JRC_SYMBOL(jrc_check_mark),
                                JRC_SYMBOL(jrc_check_push),
                                JRC_SYMBOL(jrc_check_pop),
                                JRC_SYMBOL(jrc_check_malloc),
                                JRC_SYMBOL(jrc_check_free),
                            });
}

}  // namespace jax_rawcuda
