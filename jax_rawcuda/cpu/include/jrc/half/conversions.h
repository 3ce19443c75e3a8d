// conversions.h: conversions of one format. See type.h; no include guard.

#define __JRC_ROUNDED(ROUND)                                                  \
  __JRC_FN __JRC_H __JRC_JOIN(__float2, __JRC_N, _, ROUND)(float v) {         \
    return __JRC_H::__jrc_of(__jrc_directed<__JRC_NATIVE>(v, __jrc_##ROUND)); \
  }                                                                           \
  __JRC_INTEGER(int, int, ROUND, __float2int_##ROUND(v))                      \
  __JRC_INTEGER(unsigned int, uint, ROUND, __float2uint_##ROUND(v))           \
  __JRC_INTEGER(long long, ll, ROUND, __float2ll_##ROUND(v))                  \
  __JRC_INTEGER(unsigned long long, ull, ROUND, __float2ull_##ROUND(v))       \
  __JRC_INTEGER(short, short, ROUND,                                          \
                __jrc_clamped<short>((float)__float2int_##ROUND(v)))          \
  __JRC_INTEGER(unsigned short, ushort, ROUND,                                \
                __jrc_clamped<unsigned short>((float)__float2int_##ROUND(v)))
#define __JRC_INTEGER(T, WORD, ROUND, CONVERT)                       \
  __JRC_FN T __JRC_JOIN(__, __JRC_N, 2##WORD##_, ROUND)(__JRC_H h) { \
    float v = h;                                                     \
    return CONVERT;                                                  \
  }                                                                  \
  __JRC_FN __JRC_H __JRC_JOIN(__##WORD##2, __JRC_N, _, ROUND)(T v) { \
    return __JRC_H::__jrc_of(                                        \
        __jrc_directed<__JRC_NATIVE>(__jrc_odd(v), __jrc_##ROUND));  \
  }
__JRC_ROUNDED(rn)
__JRC_ROUNDED(rz)
__JRC_ROUNDED(rd)
__JRC_ROUNDED(ru)
#undef __JRC_INTEGER
#undef __JRC_ROUNDED

__JRC_FN signed char __JRC_JOIN(__, __JRC_N, 2char, _rz)(__JRC_H h) { return h; }
__JRC_FN unsigned char __JRC_JOIN(__, __JRC_N, 2uchar, _rz)(__JRC_H h) { return h; }

__JRC_FN __JRC_H __JRC_JOIN(__float2, __JRC_N, , )(float v) { return __JRC_H(v); }
__JRC_FN __JRC_H __JRC_JOIN(__double2, __JRC_N, , )(double v) { return __JRC_H(v); }
__JRC_FN float __JRC_JOIN(__, __JRC_N, 2float, )(__JRC_H h) { return h; }
__JRC_FN __JRC_H __JRC_JOIN(__short_as_, __JRC_N, , )(short v) {
  return __JRC_RAW{(unsigned short)v};
}
__JRC_FN __JRC_H __JRC_JOIN(__ushort_as_, __JRC_N, , )(unsigned short v) {
  return __JRC_RAW{v};
}
__JRC_FN short __JRC_JOIN(__, __JRC_N, _as_short, )(__JRC_H h) {
  return ((__JRC_RAW)h).x;
}
__JRC_FN unsigned short __JRC_JOIN(__, __JRC_N, _as_ushort, )(__JRC_H h) {
  return ((__JRC_RAW)h).x;
}

__JRC_FN __JRC_H2 __JRC_JOIN(make_, __JRC_N2, , )(__JRC_H x, __JRC_H y) {
  return __JRC_H2(x, y);
}
__JRC_FN __JRC_H2 __JRC_JOIN(__float2, __JRC_N2, _rn, )(float v) {
  return __JRC_H2(v, v);
}
__JRC_FN __JRC_H2 __JRC_JOIN(__floats2, __JRC_N2, _rn, )(float x, float y) {
  return __JRC_H2(x, y);
}
__JRC_FN __JRC_H2 __JRC_JOIN(__float22, __JRC_N2, _rn, )(float2 v) {
  return __JRC_H2(v.x, v.y);
}
__JRC_FN float2 __JRC_JOIN(__, __JRC_N2, 2float2, )(__JRC_H2 h) {
  return float2{(float)h.x, (float)h.y};
}
__JRC_FN __JRC_H2 __JRC_JOIN(__, __JRC_N, 2, __JRC_N2)(__JRC_H h) {
  return __JRC_H2(h, h);
}
__JRC_FN __JRC_H2 __JRC_JOIN(__halves2, __JRC_N2, , )(__JRC_H x, __JRC_H y) {
  return __JRC_H2(x, y);
}
__JRC_FN float __low2float(__JRC_H2 h) { return h.x; }
__JRC_FN float __high2float(__JRC_H2 h) { return h.y; }
__JRC_FN __JRC_H __JRC_JOIN(__low2, __JRC_N, , )(__JRC_H2 h) { return h.x; }
__JRC_FN __JRC_H __JRC_JOIN(__high2, __JRC_N, , )(__JRC_H2 h) { return h.y; }
__JRC_FN __JRC_H2 __JRC_JOIN(__low2, __JRC_N2, , )(__JRC_H2 h) {
  return __JRC_H2(h.x, h.x);
}
__JRC_FN __JRC_H2 __JRC_JOIN(__high2, __JRC_N2, , )(__JRC_H2 h) {
  return __JRC_H2(h.y, h.y);
}
__JRC_FN __JRC_H2 __JRC_JOIN(__lows2, __JRC_N2, , )(__JRC_H2 a, __JRC_H2 b) {
  return __JRC_H2(a.x, b.x);
}
__JRC_FN __JRC_H2 __JRC_JOIN(__highs2, __JRC_N2, , )(__JRC_H2 a, __JRC_H2 b) {
  return __JRC_H2(a.y, b.y);
}
__JRC_FN __JRC_H2 __lowhigh2highlow(__JRC_H2 h) { return __JRC_H2(h.y, h.x); }
