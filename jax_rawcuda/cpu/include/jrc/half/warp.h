// warp.h: shuffles and atomics of one format. See type.h; no include guard.

#define __JRC_SHUFFLE(NAME, LANE)                                                    \
  __JRC_FN __JRC_H NAME(unsigned int mask, __JRC_H v, LANE lane, int width = 32) {   \
    unsigned int bits = ((__JRC_RAW)v).x;                                            \
    return __JRC_RAW{(unsigned short)NAME(mask, bits, lane, width)};                 \
  }                                                                                  \
  __JRC_FN __JRC_H2 NAME(unsigned int mask, __JRC_H2 v, LANE lane, int width = 32) { \
    unsigned int bits = __builtin_bit_cast(unsigned int, (__JRC_RAW2)v);             \
    return __builtin_bit_cast(__JRC_RAW2, NAME(mask, bits, lane, width));            \
  }
__JRC_SHUFFLE(__shfl_sync, int)
__JRC_SHUFFLE(__shfl_xor_sync, int)
__JRC_SHUFFLE(__shfl_down_sync, unsigned int)
__JRC_SHUFFLE(__shfl_up_sync, unsigned int)
#undef __JRC_SHUFFLE

__JRC_FN __JRC_H atomicAdd(__JRC_H* p, __JRC_H v) {
  unsigned short old;
  asm volatile("atom.add.noftz." __JRC_PTX " %0, [%1], %2;"
               : "=h"(old)
               : "l"(p), "h"(((__JRC_RAW)v).x)
               : "memory");
  return __JRC_RAW{old};
}
// Each half is added by itself, as the documentation allows.
__JRC_FN __JRC_H2 atomicAdd(__JRC_H2* p, __JRC_H2 v) {
  return __JRC_H2(atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y));
}
