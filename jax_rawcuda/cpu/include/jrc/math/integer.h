// integer.h: integer and bit intrinsics.
#pragma once
#pragma clang system_header
#include "jrc/math/overloads.h"
#include "jrc/device/vector_types.h"

__JRC_FN int __popc(unsigned int x) { return __builtin_popcount(x); }
__JRC_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__JRC_FN int __clz(int x) { return x ? __builtin_clz(x) : 32; }
__JRC_FN int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
__JRC_FN int __ffs(int x) { return x ? __builtin_ctz(x) + 1 : 0; }
__JRC_FN int __ffsll(long long x) { return x ? __builtin_ctzll(x) + 1 : 0; }
__JRC_FN unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
__JRC_FN unsigned long long __brevll(unsigned long long x) {
  return __builtin_bitreverse64(x);
}
__JRC_FN unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
  unsigned int r;
  asm("fns.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(mask), "r"(base), "r"(offset));
  return r;
}
__JRC_FN unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int s) {
  return __nvvm_prmt(x, y, s & 0x7777);
}

__JRC_FN unsigned int __funnelshift_l(unsigned int lo, unsigned int hi,
                                      unsigned int shift) {
  return ((unsigned long long)hi << 32 | lo) << (shift & 31) >> 32;
}
__JRC_FN unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi,
                                       unsigned int shift) {
  return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
__JRC_FN unsigned int __funnelshift_r(unsigned int lo, unsigned int hi,
                                      unsigned int shift) {
  return ((unsigned long long)hi << 32 | lo) >> (shift & 31);
}
__JRC_FN unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi,
                                       unsigned int shift) {
  return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}

// Results wrap, which C++ defines for unsigned values only.
__JRC_FN int __jrc_sum(int x, int y) { return (unsigned int)x + (unsigned int)y; }
__JRC_FN int __mul24(int x, int y) {
  return (unsigned int)(x << 8 >> 8) * (unsigned int)(y << 8 >> 8);
}
__JRC_FN unsigned int __umul24(unsigned int x, unsigned int y) {
  return (x & 0xffffff) * (y & 0xffffff);
}
__JRC_FN int __mulhi(int x, int y) { return (long long)x * y >> 32; }
__JRC_FN unsigned int __umulhi(unsigned int x, unsigned int y) {
  return (unsigned long long)x * y >> 32;
}
__JRC_FN long long __mul64hi(long long x, long long y) { return (__int128)x * y >> 64; }
__JRC_FN unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned __int128)x * y >> 64;
}

__JRC_FN unsigned int __sad(int x, int y, unsigned int z) {
  return z + (x < y ? (unsigned int)y - x : (unsigned int)x - y);
}
__JRC_FN unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) {
  return z + (x < y ? y - x : x - y);
}
__JRC_FN int __hadd(int x, int y) { return (x & y) + ((x ^ y) >> 1); }
__JRC_FN int __rhadd(int x, int y) { return (x | y) - ((x ^ y) >> 1); }
__JRC_FN unsigned int __uhadd(unsigned int x, unsigned int y) {
  return (x & y) + ((x ^ y) >> 1);
}
__JRC_FN unsigned int __urhadd(unsigned int x, unsigned int y) {
  return (x | y) - ((x ^ y) >> 1);
}

__JRC_FN int __dp4a(int a, int b, int c) {
  int r;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
__JRC_FN unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  unsigned int r;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
__JRC_FN int __dp4a(char4 a, char4 b, int c) {
  return __jrc_sum(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w, c);
}
__JRC_FN unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w + c;
}

// dp2a: two 16-bit lanes of a with two bytes of b, the low or the high pair.
#define __JRC_DP2A(NAME, SHIFT)                                                \
  __JRC_FN int NAME(int a, int b, int c) {                                     \
    return __jrc_sum(c, (short)a * (signed char)(b >> SHIFT) +                 \
                            (a >> 16) * (signed char)(b >> (SHIFT + 8)));      \
  }                                                                            \
  __JRC_FN unsigned int NAME(unsigned int a, unsigned int b, unsigned int c) { \
    return c + (a & 0xffff) * (b >> SHIFT & 0xff) +                            \
           (a >> 16) * (b >> (SHIFT + 8) & 0xff);                              \
  }
__JRC_DP2A(__dp2a_lo, 0)
__JRC_DP2A(__dp2a_hi, 16)
#undef __JRC_DP2A

// Dynamic programming helpers.
__JRC_FN int __vimax3_s32(int a, int b, int c) { return max(max(a, b), c); }
__JRC_FN int __vimin3_s32(int a, int b, int c) { return min(min(a, b), c); }
__JRC_FN unsigned int __vimax3_u32(unsigned int a, unsigned int b, unsigned int c) {
  return max(max(a, b), c);
}
__JRC_FN unsigned int __vimin3_u32(unsigned int a, unsigned int b, unsigned int c) {
  return min(min(a, b), c);
}
__JRC_FN int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
__JRC_FN int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }
__JRC_FN int __viaddmax_s32(int a, int b, int c) {
  return max(__jrc_sum(a, b), c);
}
__JRC_FN int __viaddmin_s32(int a, int b, int c) {
  return min(__jrc_sum(a, b), c);
}
__JRC_FN int __viaddmax_s32_relu(int a, int b, int c) {
  return max(max(__jrc_sum(a, b), c), 0);
}
__JRC_FN int __viaddmin_s32_relu(int a, int b, int c) {
  return max(min(__jrc_sum(a, b), c), 0);
}
__JRC_FN unsigned int __viaddmax_u32(unsigned int a, unsigned int b, unsigned int c) {
  return max(a + b, c);
}
__JRC_FN unsigned int __viaddmin_u32(unsigned int a, unsigned int b, unsigned int c) {
  return min(a + b, c);
}
