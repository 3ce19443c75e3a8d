"""C headers that NVRTC lacks, as far as device code can use them."""

from __future__ import annotations

# libcu++ defines the same types, and the same macros in other words: hence these exact
# types, and no word (warning 47) when its header and ours meet.
_STDDEF = """\
#pragma once
#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1305
#define offsetof(type, member) __builtin_offsetof(type, member)
#else
#define offsetof(type, member) ((size_t)&(((type *)0)->member))
#endif
#endif
typedef decltype(sizeof(0)) size_t;
typedef decltype((char *)0 - (char *)0) ptrdiff_t;
"""

_STDINT = """\
#pragma once
#pragma nv_diag_suppress 47
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef int8_t int_least8_t, int_fast8_t;
typedef int16_t int_least16_t, int_fast16_t;
typedef int32_t int_least32_t, int_fast32_t;
typedef int64_t int_least64_t, int_fast64_t, intmax_t, intptr_t;
typedef uint8_t uint_least8_t, uint_fast8_t;
typedef uint16_t uint_least16_t, uint_fast16_t;
typedef uint32_t uint_least32_t, uint_fast32_t;
typedef uint64_t uint_least64_t, uint_fast64_t, uintmax_t, uintptr_t;
#define INT8_C(x) x
#define INT16_C(x) x
#define INT32_C(x) x
#define INT64_C(x) x##LL
#define UINT8_C(x) x
#define UINT16_C(x) x
#define UINT32_C(x) x##U
#define UINT64_C(x) x##ULL
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295U
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_MAX 9223372036854775807LL
#define UINT64_MAX 18446744073709551615ULL
#define INTPTR_MIN INT64_MIN
#define INTPTR_MAX INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define SIZE_MAX UINT64_MAX
"""

_LIMITS = """\
#pragma once
#pragma nv_diag_suppress 47
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#if defined(_WIN32)
#define LONG_MIN (-2147483647L - 1)
#define LONG_MAX 2147483647L
#define ULONG_MAX 4294967295UL
#else
#define LONG_MIN (-9223372036854775807L - 1)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL
#endif
#define LLONG_MIN (-9223372036854775807LL - 1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
"""

_FLOAT = """\
#pragma once
#pragma nv_diag_suppress 47
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_EPSILON 1.19209289550781250e-7f
#define FLT_MIN 1.17549435082228751e-38f
#define FLT_MAX 3.40282346638528860e+38f
#define FLT_TRUE_MIN 1.40129846432481707e-45f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#define DBL_TRUE_MIN 4.9406564584124654e-324
"""

_MATH = """\
#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef HUGE_VAL
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#define HUGE_VALF INFINITY
#endif
#ifndef M_PI
#define M_E 2.71828182845904523536
#define M_LOG2E 1.44269504088896340736
#define M_LOG10E 0.434294481903251827651
#define M_LN2 0.693147180559945309417
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.785398163397448309616
#define M_1_PI 0.318309886183790671538
#define M_2_PI 0.636619772367581343076
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.707106781186547524401
#endif
"""

# The compiler declares these; the headers only have to exist.
_EMPTY = "#pragma once\n"

_ASSERT = """\
#pragma once
#ifdef NDEBUG
#undef assert
#define assert(expression) ((void)0)
#endif
"""


def _in_std(header: str, names: str) -> str:
    using = " ".join(f"using ::{name};" for name in names.split())
    return f"#pragma once\n#include <{header}>\nnamespace std {{ {using} }}\n"


_MATH_NAMES = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2
    expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint
    llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter pow
    remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc abs
    isnan isinf isfinite signbit"""
_INT_KINDS = ("", "_least", "_fast")
_INT_NAMES = " ".join(
    f"{sign}int{form}_t"
    for sign in ("", "u")
    for form in (
        *(f"{kind}{bits}" for kind in _INT_KINDS for bits in (8, 16, 32, 64)),
        *("max", "ptr"),
    )
)

SHIMS: dict[str, str] = {
    "stddef.h": _STDDEF,
    "stdint.h": _STDINT,
    "inttypes.h": "#pragma once\n#include <stdint.h>\n",
    "limits.h": _LIMITS,
    "float.h": _FLOAT,
    "math.h": _MATH,
    "assert.h": _ASSERT,
    "stdbool.h": _EMPTY,
    "stdio.h": _EMPTY,
    "stdlib.h": "#pragma once\n#include <stddef.h>\n",
    "string.h": "#pragma once\n#include <stddef.h>\n",
    "cstddef": _in_std("stddef.h", "size_t ptrdiff_t"),
    "cstdint": _in_std("stdint.h", _INT_NAMES),
    "cinttypes": "#pragma once\n#include <cstdint>\n",
    "climits": "#pragma once\n#include <limits.h>\n",
    "cfloat": "#pragma once\n#include <float.h>\n",
    "cmath": _in_std("math.h", _MATH_NAMES),
    "cassert": "#include <assert.h>\n",
    "cstdio": _in_std("stdio.h", "printf"),
    "cstdlib": _in_std("stdlib.h", "size_t malloc free abs"),
    "cstring": _in_std("string.h", "size_t memcpy memset"),
}
