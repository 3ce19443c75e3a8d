// sync.h: block barriers, memory fences, clocks, traps.
#pragma once
#pragma clang system_header
#include "jrc/device/qualifiers.h"

// `__syncthreads()` itself is a clang builtin.
__JRC_FN int __syncthreads_count(int predicate) {
  int r;
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %1, 0;\n\t"
      "bar.red.popc.u32 %0, 0, p;\n\t}"
      : "=r"(r)
      : "r"(predicate)
      : "memory");
  return r;
}
#define __JRC_VOTE_BARRIER(NAME, OP)                         \
  __JRC_FN int NAME(int predicate) {                         \
    int r;                                                   \
    asm volatile(                                            \
        "{\n\t.reg .pred p, q;\n\tsetp.ne.s32 p, %1, 0;\n\t" \
        "bar.red." OP                                        \
        ".pred q, 0, p;\n\t"                                 \
        "selp.s32 %0, 1, 0, q;\n\t}"                         \
        : "=r"(r)                                            \
        : "r"(predicate)                                     \
        : "memory");                                         \
    return r;                                                \
  }
__JRC_VOTE_BARRIER(__syncthreads_and, "and")
__JRC_VOTE_BARRIER(__syncthreads_or, "or")
#undef __JRC_VOTE_BARRIER
__JRC_FN void __barrier_sync(unsigned int id) {
  asm volatile("barrier.sync %0;" ::"r"(id) : "memory");
}
__JRC_FN void __barrier_sync_count(unsigned int id, unsigned int count) {
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}
__JRC_FN void __syncwarp(unsigned int mask = 0xffffffff) { __nvvm_bar_warp_sync(mask); }

__JRC_FN void __threadfence_block() { __nvvm_membar_cta(); }
__JRC_FN void __threadfence() { __nvvm_membar_gl(); }
__JRC_FN void __threadfence_system() { __nvvm_membar_sys(); }

__JRC_FN clock_t clock() { return __nvvm_read_ptx_sreg_clock(); }
__JRC_FN long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
__JRC_FN void __nanosleep(unsigned int ns) {
  asm volatile("nanosleep.u32 %0;" ::"r"(ns));
}
__JRC_FN void __trap() { asm volatile("trap;"); }
__JRC_FN void __brkpt() { asm volatile("brkpt;"); }
__JRC_FN void __prof_trigger(int) {}
