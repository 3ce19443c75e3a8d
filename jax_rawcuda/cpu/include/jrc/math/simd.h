// simd.h: SIMD-in-a-word intrinsics on four bytes or two halfwords.
#pragma once
#pragma clang system_header
#include "jrc/math/overloads.h"

// One function per word: it applies EXPRESSION to the lanes a, b of type T and keeps
// the lane's low bits.
#define __JRC_LANES(NAME, T, BITS, EXPRESSION)                     \
  __JRC_FN unsigned int NAME(unsigned int x, unsigned int y) {     \
    unsigned int r = 0;                                            \
    for (int i = 0; i < 32; i += BITS) {                           \
      int a = (T)(x >> i), b = (T)(y >> i);                        \
      r |= ((unsigned int)(EXPRESSION) & ((1u << BITS) - 1)) << i; \
    }                                                              \
    return r;                                                      \
  }
#define __JRC_LANE(NAME, T, BITS, EXPRESSION)                      \
  __JRC_FN unsigned int NAME(unsigned int x) {                     \
    unsigned int r = 0;                                            \
    for (int i = 0; i < 32; i += BITS) {                           \
      int a = (T)(x >> i);                                         \
      r |= ((unsigned int)(EXPRESSION) & ((1u << BITS) - 1)) << i; \
    }                                                              \
    return r;                                                      \
  }
#define __JRC_SAD(NAME, T, BITS)                               \
  __JRC_FN unsigned int NAME(unsigned int x, unsigned int y) { \
    unsigned int r = 0;                                        \
    for (int i = 0; i < 32; i += BITS) {                       \
      int a = (T)(x >> i), b = (T)(y >> i);                    \
      r += a < b ? b - a : a - b;                              \
    }                                                          \
    return r;                                                  \
  }

#define __JRC_SIMD(N, S, U, BITS, LOW, HIGH, TOP)               \
  __JRC_LANES(__vadd##N, U, BITS, a + b)                        \
  __JRC_LANES(__vsub##N, U, BITS, a - b)                        \
  __JRC_LANES(__vaddss##N, S, BITS, min(max(a + b, LOW), HIGH)) \
  __JRC_LANES(__vsubss##N, S, BITS, min(max(a - b, LOW), HIGH)) \
  __JRC_LANES(__vaddus##N, U, BITS, min(a + b, TOP))            \
  __JRC_LANES(__vsubus##N, U, BITS, max(a - b, 0))              \
  __JRC_LANES(__vavgs##N, S, BITS, (a + b + (a + b >= 0)) >> 1) \
  __JRC_LANES(__vavgu##N, U, BITS, (a + b + 1) >> 1)            \
  __JRC_LANES(__vhaddu##N, U, BITS, (a + b) >> 1)               \
  __JRC_LANES(__vmaxs##N, S, BITS, max(a, b))                   \
  __JRC_LANES(__vmaxu##N, U, BITS, max(a, b))                   \
  __JRC_LANES(__vmins##N, S, BITS, min(a, b))                   \
  __JRC_LANES(__vminu##N, U, BITS, min(a, b))                   \
  __JRC_LANES(__vabsdiffs##N, S, BITS, abs(a - b))              \
  __JRC_LANES(__vabsdiffu##N, U, BITS, abs(a - b))              \
  __JRC_LANES(__vcmpeq##N, U, BITS, a == b ? -1 : 0)            \
  __JRC_LANES(__vcmpne##N, U, BITS, a != b ? -1 : 0)            \
  __JRC_LANES(__vcmpges##N, S, BITS, a >= b ? -1 : 0)           \
  __JRC_LANES(__vcmpgeu##N, U, BITS, a >= b ? -1 : 0)           \
  __JRC_LANES(__vcmpgts##N, S, BITS, a > b ? -1 : 0)            \
  __JRC_LANES(__vcmpgtu##N, U, BITS, a > b ? -1 : 0)            \
  __JRC_LANES(__vcmples##N, S, BITS, a <= b ? -1 : 0)           \
  __JRC_LANES(__vcmpleu##N, U, BITS, a <= b ? -1 : 0)           \
  __JRC_LANES(__vcmplts##N, S, BITS, a < b ? -1 : 0)            \
  __JRC_LANES(__vcmpltu##N, U, BITS, a < b ? -1 : 0)            \
  __JRC_LANES(__vseteq##N, U, BITS, a == b)                     \
  __JRC_LANES(__vsetne##N, U, BITS, a != b)                     \
  __JRC_LANES(__vsetges##N, S, BITS, a >= b)                    \
  __JRC_LANES(__vsetgeu##N, U, BITS, a >= b)                    \
  __JRC_LANES(__vsetgts##N, S, BITS, a > b)                     \
  __JRC_LANES(__vsetgtu##N, U, BITS, a > b)                     \
  __JRC_LANES(__vsetles##N, S, BITS, a <= b)                    \
  __JRC_LANES(__vsetleu##N, U, BITS, a <= b)                    \
  __JRC_LANES(__vsetlts##N, S, BITS, a < b)                     \
  __JRC_LANES(__vsetltu##N, U, BITS, a < b)                     \
  __JRC_LANE(__vabs##N, S, BITS, abs(a))                        \
  __JRC_LANE(__vabsss##N, S, BITS, min(abs(a), HIGH))           \
  __JRC_LANE(__vneg##N, S, BITS, -a)                            \
  __JRC_LANE(__vnegss##N, S, BITS, min(-a, HIGH))               \
  __JRC_SAD(__vsads##N, S, BITS)                                \
  __JRC_SAD(__vsadu##N, U, BITS)
__JRC_SIMD(2, short, unsigned short, 16, -32768, 32767, 65535)
__JRC_SIMD(4, signed char, unsigned char, 8, -128, 127, 255)
#undef __JRC_SIMD
#undef __JRC_SAD
#undef __JRC_LANE
#undef __JRC_LANES
