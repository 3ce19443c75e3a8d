// warp.h: shuffles, votes, matches and reductions over the threads of a warp.
#pragma once
#pragma clang system_header
#include "jrc/device/qualifiers.h"

// The clamp operand of shfl: segment mask above bit 8, the limit lane below.
#define __JRC_SHFL(NAME, BUILTIN, LIMIT, LANE)                                         \
  __JRC_FN int NAME(unsigned int mask, int v, LANE lane, int width = 32) {             \
    return BUILTIN##_i32(mask, v, lane, (32 - width) << 8 | LIMIT);                    \
  }                                                                                    \
  __JRC_FN unsigned int NAME(unsigned int mask, unsigned int v, LANE lane,             \
                             int width = 32) {                                         \
    return NAME(mask, (int)v, lane, width);                                            \
  }                                                                                    \
  __JRC_FN float NAME(unsigned int mask, float v, LANE lane, int width = 32) {         \
    return BUILTIN##_f32(mask, v, lane, (32 - width) << 8 | LIMIT);                    \
  }                                                                                    \
  __JRC_FN long long NAME(unsigned int mask, long long v, LANE lane, int width = 32) { \
    unsigned int lo = NAME(mask, (unsigned int)v, lane, width);                        \
    unsigned int hi = NAME(mask, (unsigned int)(v >> 32), lane, width);                \
    return (long long)hi << 32 | lo;                                                   \
  }                                                                                    \
  __JRC_FN unsigned long long NAME(unsigned int mask, unsigned long long v, LANE lane, \
                                   int width = 32) {                                   \
    return NAME(mask, (long long)v, lane, width);                                      \
  }                                                                                    \
  __JRC_FN long NAME(unsigned int mask, long v, LANE lane, int width = 32) {           \
    return sizeof(long) == 8 ? (long)NAME(mask, (long long)v, lane, width)             \
                             : (long)NAME(mask, (int)v, lane, width);                  \
  }                                                                                    \
  __JRC_FN unsigned long NAME(unsigned int mask, unsigned long v, LANE lane,           \
                              int width = 32) {                                        \
    return NAME(mask, (long)v, lane, width);                                           \
  }                                                                                    \
  __JRC_FN double NAME(unsigned int mask, double v, LANE lane, int width = 32) {       \
    return __builtin_bit_cast(                                                         \
        double, NAME(mask, __builtin_bit_cast(long long, v), lane, width));            \
  }
__JRC_SHFL(__shfl_sync, __nvvm_shfl_sync_idx, 31, int)
__JRC_SHFL(__shfl_xor_sync, __nvvm_shfl_sync_bfly, 31, int)
__JRC_SHFL(__shfl_down_sync, __nvvm_shfl_sync_down, 31, unsigned int)
__JRC_SHFL(__shfl_up_sync, __nvvm_shfl_sync_up, 0, unsigned int)
#undef __JRC_SHFL

__JRC_FN int __all_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_all_sync(mask, predicate);
}
__JRC_FN int __any_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_any_sync(mask, predicate);
}
__JRC_FN int __uni_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_uni_sync(mask, predicate);
}
__JRC_FN unsigned int __ballot_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_ballot_sync(mask, predicate);
}
__JRC_FN unsigned int __activemask() {
  unsigned int r;
  asm volatile("activemask.b32 %0;" : "=r"(r));
  return r;
}

#define __JRC_MATCH_32(T)                                                           \
  __JRC_FN unsigned int __match_any_sync(unsigned int mask, T v) {                  \
    return __nvvm_match_any_sync_i32(mask, __builtin_bit_cast(int, v));             \
  }                                                                                 \
  __JRC_FN unsigned int __match_all_sync(unsigned int mask, T v, int* predicate) {  \
    return __nvvm_match_all_sync_i32p(mask, __builtin_bit_cast(int, v), predicate); \
  }
#define __JRC_MATCH_64(T)                                                          \
  __JRC_FN unsigned int __match_any_sync(unsigned int mask, T v) {                 \
    return __nvvm_match_any_sync_i64(mask, __builtin_bit_cast(long long, v));      \
  }                                                                                \
  __JRC_FN unsigned int __match_all_sync(unsigned int mask, T v, int* predicate) { \
    return __nvvm_match_all_sync_i64p(mask, __builtin_bit_cast(long long, v),      \
                                      predicate);                                  \
  }
__JRC_MATCH_32(int)
__JRC_MATCH_32(unsigned int)
__JRC_MATCH_32(float)
__JRC_MATCH_64(long long)
__JRC_MATCH_64(unsigned long long)
__JRC_MATCH_64(double)
#if __SIZEOF_LONG__ == 8
__JRC_MATCH_64(long)
__JRC_MATCH_64(unsigned long)
#endif
#undef __JRC_MATCH_32
#undef __JRC_MATCH_64

__JRC_FN unsigned int __reduce_add_sync(unsigned int mask, unsigned int v) {
  return __nvvm_redux_sync_add(v, mask);
}
__JRC_FN int __reduce_add_sync(unsigned int mask, int v) {
  return __nvvm_redux_sync_add(v, mask);
}
__JRC_FN unsigned int __reduce_min_sync(unsigned int mask, unsigned int v) {
  return __nvvm_redux_sync_umin(v, mask);
}
__JRC_FN int __reduce_min_sync(unsigned int mask, int v) {
  return __nvvm_redux_sync_min(v, mask);
}
__JRC_FN unsigned int __reduce_max_sync(unsigned int mask, unsigned int v) {
  return __nvvm_redux_sync_umax(v, mask);
}
__JRC_FN int __reduce_max_sync(unsigned int mask, int v) {
  return __nvvm_redux_sync_max(v, mask);
}
__JRC_FN unsigned int __reduce_and_sync(unsigned int mask, unsigned int v) {
  return __nvvm_redux_sync_and(v, mask);
}
__JRC_FN unsigned int __reduce_or_sync(unsigned int mask, unsigned int v) {
  return __nvvm_redux_sync_or(v, mask);
}
__JRC_FN unsigned int __reduce_xor_sync(unsigned int mask, unsigned int v) {
  return __nvvm_redux_sync_xor(v, mask);
}
