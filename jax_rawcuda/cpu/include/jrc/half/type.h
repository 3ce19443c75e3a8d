// type.h: a 16-bit floating-point class and its pair.
//
// Included once per format, after these macros: __JRC_H and __JRC_H2 (the classes),
// __JRC_RAW and __JRC_RAW2 (their plain forms), __JRC_NATIVE (clang's type), and
// __JRC_N and __JRC_N2 (the words in function names: half, half2).
// No include guard on purpose.

#ifndef __JRC_JOIN
#define __JRC_JOIN_(A, B, C, D) A##B##C##D
#define __JRC_JOIN(A, B, C, D) __JRC_JOIN_(A, B, C, D)
#endif

struct __align__(2) __JRC_RAW {
  unsigned short x;
};
struct __align__(4) __JRC_RAW2 {
  unsigned short x, y;
};

struct __align__(2) __JRC_H {
  unsigned short __x;  // the name that CCCL looks for

  __JRC_H() = default;
  __JRC_FN constexpr __JRC_H(const __JRC_RAW& raw) : __x(raw.x) {}
  __JRC_FN static constexpr __JRC_H __jrc_of(__JRC_NATIVE value) {
    return __JRC_H(__JRC_RAW{__jrc_bits(value)});
  }
  __JRC_FN static constexpr unsigned short __jrc_bits(__JRC_NATIVE value) {
    return __builtin_bit_cast(unsigned short, value);
  }
  __JRC_FN constexpr __JRC_NATIVE __jrc_value() const {
    return __builtin_bit_cast(__JRC_NATIVE, __x);
  }
  __JRC_FN constexpr __JRC_H(float v) : __x(__jrc_bits((__JRC_NATIVE)v)) {}
  __JRC_FN __JRC_H(double v) : __x(__jrc_bits((__JRC_NATIVE)__jrc_odd(v))) {}
#define __JRC_FROM(T) \
  __JRC_FN __JRC_H(T v) : __x(__jrc_bits((__JRC_NATIVE)__jrc_odd(v))) {}
  __JRC_FROM(short)
  __JRC_FROM(unsigned short)
  __JRC_FROM(int)
  __JRC_FROM(unsigned int)
  __JRC_FROM(long)
  __JRC_FROM(unsigned long)
  __JRC_FROM(long long)
  __JRC_FROM(unsigned long long)
#undef __JRC_FROM

  __JRC_FN __JRC_H& operator=(const __JRC_RAW& raw) { return *this = __JRC_H(raw); }
  __JRC_FN volatile __JRC_H& operator=(const __JRC_RAW& raw) volatile {
    __x = raw.x;
    return *this;
  }
#define __JRC_ASSIGN(T) \
  __JRC_FN __JRC_H& operator=(T v) { return *this = __JRC_H(v); }
  __JRC_ASSIGN(float)
  __JRC_ASSIGN(double)
  __JRC_ASSIGN(short)
  __JRC_ASSIGN(unsigned short)
  __JRC_ASSIGN(int)
  __JRC_ASSIGN(unsigned int)
  __JRC_ASSIGN(long long)
  __JRC_ASSIGN(unsigned long long)
#undef __JRC_ASSIGN

  __JRC_FN constexpr operator float() const { return __jrc_value(); }
  __JRC_FN constexpr operator bool() const { return (float)__jrc_value() != 0.0f; }
  __JRC_FN constexpr operator __JRC_RAW() const { return __JRC_RAW{__x}; }
  __JRC_FN operator __JRC_RAW() const volatile { return __JRC_RAW{__x}; }
#define __JRC_TO(T, WIDE, CONVERT) \
  __JRC_FN operator T() const { return (T)(WIDE)CONVERT((float)__jrc_value()); }
  __JRC_TO(signed char, int, __jrc_clamped<signed char>)
  __JRC_TO(unsigned char, int, __jrc_clamped<unsigned char>)
  __JRC_TO(char, int, __jrc_clamped<char>)
  __JRC_TO(short, int, __jrc_clamped<short>)
  __JRC_TO(unsigned short, int, __jrc_clamped<unsigned short>)
  __JRC_TO(int, int, __float2int_rz)
  __JRC_TO(unsigned int, unsigned int, __float2uint_rz)
  __JRC_TO(long, long long, __float2ll_rz)
  __JRC_TO(unsigned long, unsigned long long, __float2ull_rz)
  __JRC_TO(long long, long long, __float2ll_rz)
  __JRC_TO(unsigned long long, unsigned long long, __float2ull_rz)
#undef __JRC_TO
};

struct __align__(4) __JRC_H2 {
  __JRC_H x, y;

  __JRC_H2() = default;
  __JRC_FN constexpr __JRC_H2(const __JRC_H& x, const __JRC_H& y) : x(x), y(y) {}
  __JRC_FN constexpr __JRC_H2(const __JRC_RAW2& raw)
      : x(__JRC_RAW{raw.x}), y(__JRC_RAW{raw.y}) {}
  __JRC_FN __JRC_H2& operator=(const __JRC_RAW2& raw) { return *this = __JRC_H2(raw); }
  __JRC_FN constexpr operator __JRC_RAW2() const {
    return __JRC_RAW2{((__JRC_RAW)x).x, ((__JRC_RAW)y).x};
  }
};
