// vector_types.h: char1 .. double4 with CUDA's sizes and alignments, and dim3.
#pragma once
#pragma clang system_header
#include "jrc/device/qualifiers.h"

#define __JRC_VECTOR(T, N, A2, A4)                                    \
  struct N##1 { T x; };                                               \
  struct __align__(A2) N##2 { T x, y; };                              \
  struct N##3 { T x, y, z; };                                         \
  struct __align__(A4) N##4 { T x, y, z, w; };                        \
  __JRC_FN N##1 make_##N##1(T x) { return N##1 {x}; }                 \
  __JRC_FN N##2 make_##N##2(T x, T y) { return N##2 {x, y}; }         \
  __JRC_FN N##3 make_##N##3(T x, T y, T z) { return N##3 {x, y, z}; } \
  __JRC_FN N##4 make_##N##4(T x, T y, T z, T w) { return N##4 {x, y, z, w}; }

__JRC_VECTOR(signed char, char, 2, 4)
__JRC_VECTOR(unsigned char, uchar, 2, 4)
__JRC_VECTOR(short, short, 4, 8)
__JRC_VECTOR(unsigned short, ushort, 4, 8)
__JRC_VECTOR(int, int, 8, 16)
__JRC_VECTOR(unsigned int, uint, 8, 16)
__JRC_VECTOR(long, long, 2 * sizeof(long), 16)
__JRC_VECTOR(unsigned long, ulong, 2 * sizeof(long), 16)
__JRC_VECTOR(long long, longlong, 16, 16)
__JRC_VECTOR(unsigned long long, ulonglong, 16, 16)
__JRC_VECTOR(float, float, 8, 16)
__JRC_VECTOR(double, double, 16, 16)
#undef __JRC_VECTOR

// CUDA 13 names the alignment of the 32-byte vectors.
#define __JRC_WIDE_VECTOR(T, N)                           \
  struct __align__(16) N##4_16a { T x, y, z, w; };        \
  struct __align__(32) N##4_32a { T x, y, z, w; };        \
  __JRC_FN N##4_16a make_##N##4_16a(T x, T y, T z, T w) { \
    return N##4_16a {x, y, z, w};                         \
  }                                                       \
  __JRC_FN N##4_32a make_##N##4_32a(T x, T y, T z, T w) { \
    return N##4_32a {x, y, z, w};                         \
  }

__JRC_WIDE_VECTOR(long, long)
__JRC_WIDE_VECTOR(unsigned long, ulong)
__JRC_WIDE_VECTOR(long long, longlong)
__JRC_WIDE_VECTOR(unsigned long long, ulonglong)
__JRC_WIDE_VECTOR(double, double)
#undef __JRC_WIDE_VECTOR

struct dim3 {
  unsigned int x, y, z;
  __JRC_FN constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1)
      : x(x), y(y), z(z) {}
  __JRC_FN constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __JRC_FN constexpr operator uint3() const { return uint3{x, y, z}; }
};
