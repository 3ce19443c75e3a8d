"""Exactly defined operations of float and double, and conversions from and to them."""

from __future__ import annotations

from support.operations.operation import (
    COMPARISONS,
    ROUNDS,
    WORDS,
    Operation,
    bits_of,
    each,
    family,
)
from support.words import TYPES

_UNARY = """
neg: -a
abs: fabs$f(a)
half of: a * ($T)0.5
twice: a + a
square: a * a
reciprocal: ($T)1 / a
sqrt: sqrt$f(a)
floor: floor$f(a)
ceil: ceil$f(a)
trunc: trunc$f(a)
rint: rint$f(a)
nearbyint: nearbyint$f(a)
round: round$f(a)
logb: logb$f(a)
zero minus: ($T)0 - a
fraction of modf: $T whole; return modf$f(a, &whole)
whole of modf: $T whole; modf$f(a, &whole); return whole
mantissa of frexp: int e; return frexp$f(a, &e)
"""
_UNARY_ROUNDED = """
sqrt_$r: __@psqrt_$r(a)
rcp_$r: __@prcp_$r(a)
"""
_BINARY = """
add: a + b
sub: a - b
mul: a * b
div: a / b
min: fmin$f(a, b)
max: fmax$f(a, b)
smaller: a < b ? a : b
larger: a > b ? a : b
smaller or equal: a <= b ? a : b
larger or equal: a >= b ? a : b
fmod: fmod$f(a, b)
remainder: remainder$f(a, b)
copysign: copysign$f(a, b)
fdim: fdim$f(a, b)
nextafter: nextafter$f(a, b)
min of sizes: fmin$f(fabs$f(a), fabs$f(b))
clamp: fmin$f(fmax$f(a, ($T)0), b)
"""
_BINARY_ROUNDED = """
add_$r: __@padd_$r(a, b)
sub_$r: __@psub_$r(a, b)
mul_$r: __@pmul_$r(a, b)
div_$r: __@pdiv_$r(a, b)
"""
_ORDERS = f"""
orders: {bits_of(*COMPARISONS)}
not ordered: {bits_of(*(f"!({text})" for text in COMPARISONS[:5]))}
quotient of remquo: int q; remquo$f(a, b, &q); return q & 7
"""
_CLASSES = """
classes: isnan(a) | isinf(a) << 1 | isfinite(a) << 2 | (signbit(a) != 0) << 3
ilogb: ilogb$f(a)
exponent of frexp: int e; frexp$f(a, &e); return e
truth: (a == ($T)0) | !a << 1
"""


def _floats(t: str, f: str, p: str, word: str) -> list[Operation]:
    """Of one type: `f` ends functions, `p` begins intrinsics, `word` conversions."""
    words = {"f": f, "T": TYPES[t].c}

    def rounded(text: str) -> str:
        return each(text.replace("@p", p), r=ROUNDS)

    found = [
        *family(t, t, _UNARY, **words),
        *family(t, t, rounded(_UNARY_ROUNDED)),
        *family(t, f"{t} {t}", _BINARY, **words),
        *family(t, f"{t} {t}", rounded(_BINARY_ROUNDED)),
        *family("s32", f"{t} {t}", _ORDERS, **words),
        *family("s32", t, _CLASSES, **words),
        *family(t, f"{t} s32", "ldexp: ldexp$f(a, b)\nscalbn: scalbn$f(a, b)", **words),
        *family(t, f"{t} {t} {t}", "fma: fma$f(a, b, c)", **words),
        *family(t, f"{t} {t} {t}", each(f"fma_$r: __fma{f}_$r(a, b, c)", r=ROUNDS)),
        *family("s64", t, "llrint: llrint$f(a)\nllround: llround$f(a)", **words),
    ]
    for result, integer in WORDS.items():
        text = each(f"to {integer} $r: __{word}2{integer}_$r(a)", r=ROUNDS)
        found += family(result, t, f"{text}\ncast to {result}: ({TYPES[result].c})a")
    for source in ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"):
        found += family(t, source, f"cast to {t}: ({TYPES[t].c})a")
    return found


def _between() -> list[Operation]:
    found = [
        *family("f32", "f64", each("to float $r: __double2float_$r(a)", r=ROUNDS)),
        *family("f32", "f64", "cast to f32: (float)a"),
        *family("f64", "f32", "cast to f64: (double)a"),
        *family("s32", "f64", "hi: __double2hiint(a)\nlo: __double2loint(a)"),
        *family("f64", "s32 s32", "hilo: __hiloint2double(a, b)"),
        *family("s32", "f32", "bits: __float_as_int(a)"),
        *family("f32", "s32", "from bits: __int_as_float(a)"),
        *family("f64", "s64", "from bits: __longlong_as_double(a)"),
        *family("f32", "f32", "saturate: __saturatef(a)\nrsqrt_rn: __frsqrt_rn(a)"),
    ]
    for source, word in WORDS.items():
        text = each(f"{word} to float $r: __{word}2float_$r(a)", r=ROUNDS)
        found += family("f32", source, text)
        if source in ("s64", "u64"):
            text = each(f"{word} to double $r: __{word}2double_$r(a)", r=ROUNDS)
            found += family("f64", source, text)
    return found


FLOAT_OPERATIONS = [
    *_floats("f32", "f", "f", "float"),
    *_floats("f64", "", "d", "double"),
    *_between(),
]
