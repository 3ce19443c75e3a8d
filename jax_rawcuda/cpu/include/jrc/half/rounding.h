// rounding.h: exact helpers for conversions to 16-bit formats.
#pragma once
#pragma clang system_header
#include "jrc/math/conversions.h"
#include "jrc/math/integer.h"
#include "jrc/math/overloads.h"

// Rounds to odd: truncate, and set the last bit when anything was cut off. A second
// rounding, to 16 bits, then gives what one rounding would have given.
__JRC_FN float __jrc_sticky(float truncated, bool exact) {
  return exact ? truncated : __uint_as_float(__float_as_uint(truncated) | 1);
}
__JRC_FN float __jrc_odd(double v) {
  float t = __double2float_rz(v);
  return __jrc_sticky(t, (double)t == v || v != v);
}
__JRC_FN float __jrc_odd(unsigned long long v) {
  int shift = v >> 24 ? 40 - __clzll(v) : 0;
  float t = ldexpf((float)(unsigned int)(v >> shift), shift);
  return __jrc_sticky(t, v >> shift << shift == v);
}
__JRC_FN float __jrc_odd(long long v) {
  return v < 0 ? -__jrc_odd(0ULL - (unsigned long long)v)
               : __jrc_odd((unsigned long long)v);
}
__JRC_FN float __jrc_odd(long v) { return __jrc_odd((long long)v); }
__JRC_FN float __jrc_odd(unsigned long v) { return __jrc_odd((unsigned long long)v); }
__JRC_FN float __jrc_odd(int v) { return __jrc_odd((double)v); }
__JRC_FN float __jrc_odd(unsigned int v) { return __jrc_odd((double)v); }
__JRC_FN float __jrc_odd(short v) { return v; }
__JRC_FN float __jrc_odd(unsigned short v) { return v; }

// Float to a small integer, saturating, rounded by the caller.
template <class _T>
__JRC_FN int __jrc_clamped(float rounded) {
  const int bits = 8 * sizeof(_T);
  const int low = _T(-1) < _T(0) ? -(1 << (bits - 1)) : 0;
  return min(max(__float2int_rz(rounded), low), low + (1 << bits) - 1);
}

// Directed rounding: round to nearest, then step back when that went the wrong way.
enum __jrc_round { __jrc_rn, __jrc_rz, __jrc_rd, __jrc_ru };
template <class Native>
__JRC_FN Native __jrc_directed(float v, __jrc_round mode) {
  Native nearest = (Native)v;
  float back = (float)nearest;
  unsigned short bits = __builtin_bit_cast(unsigned short, nearest);
  bool too_big = back > v && (mode == __jrc_rd || (mode == __jrc_rz && v > 0.0f));
  bool too_small = back < v && (mode == __jrc_ru || (mode == __jrc_rz && v < 0.0f));
  if (too_big) bits += bits >> 15 ? 1 : -1;
  if (too_small) bits += bits >> 15 ? -1 : 1;
  return __builtin_bit_cast(Native, bits);
}
