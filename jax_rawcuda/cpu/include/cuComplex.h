// cuComplex.h: complex numbers as float2 and double2.
#pragma once

#define __JRC_COMPLEX(C, V, T, SUFFIX, HYPOT)                             \
  typedef V C;                                                            \
  __JRC_FN T cuCreal##SUFFIX(C a) { return a.x; }                         \
  __JRC_FN T cuCimag##SUFFIX(C a) { return a.y; }                         \
  __JRC_FN C cuConj##SUFFIX(C a) { return C{a.x, -a.y}; }                 \
  __JRC_FN C cuCadd##SUFFIX(C a, C b) { return C{a.x + b.x, a.y + b.y}; } \
  __JRC_FN C cuCsub##SUFFIX(C a, C b) { return C{a.x - b.x, a.y - b.y}; } \
  __JRC_FN C cuCmul##SUFFIX(C a, C b) {                                   \
    return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};               \
  }                                                                       \
  /* Scaled by the divisor, against overflow. */                          \
  __JRC_FN C cuCdiv##SUFFIX(C a, C b) {                                   \
    T s = 1 / (fabs(b.x) + fabs(b.y));                                    \
    T ax = a.x * s, ay = a.y * s, bx = b.x * s, by = b.y * s;             \
    T r = 1 / (bx * bx + by * by);                                        \
    return C{(ax * bx + ay * by) * r, (ay * bx - ax * by) * r};           \
  }                                                                       \
  __JRC_FN T cuCabs##SUFFIX(C a) { return HYPOT(a.x, a.y); }              \
  __JRC_FN C cuCfma##SUFFIX(C a, C b, C c) {                              \
    return cuCadd##SUFFIX(cuCmul##SUFFIX(a, b), c);                       \
  }
__JRC_COMPLEX(cuFloatComplex, float2, float, f, hypotf)
__JRC_COMPLEX(cuDoubleComplex, double2, double, , hypot)
#undef __JRC_COMPLEX
typedef cuFloatComplex cuComplex;
__JRC_FN cuFloatComplex make_cuFloatComplex(float x, float y) { return {x, y}; }
__JRC_FN cuDoubleComplex make_cuDoubleComplex(double x, double y) { return {x, y}; }
__JRC_FN cuComplex make_cuComplex(float x, float y) { return {x, y}; }
__JRC_FN cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return {a.x, a.y}; }
__JRC_FN cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return {(float)a.x, (float)a.y};
}
