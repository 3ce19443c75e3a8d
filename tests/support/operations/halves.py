"""Exactly defined operations of half and bfloat16, and of pairs of them."""

from __future__ import annotations

from support.operations.operation import ROUNDS, WORDS, Operation, bits_of, each, family

# With `2` for pairs: __hadd and __hadd2, hfloor and h2floor.
_UNARY = """
neg: __hneg$2(a)
abs: __habs$2(a)
floor: h$2floor(a)
ceil: h$2ceil(a)
trunc: h$2trunc(a)
rint: h$2rint(a)
"""
_BINARY = """
add: __hadd$2(a, b)
sub: __hsub$2(a, b)
mul: __hmul$2(a, b)
div: $div(a, b)
add_rn: __hadd$2_rn(a, b)
sub_rn: __hsub$2_rn(a, b)
mul_rn: __hmul$2_rn(a, b)
add_sat: __hadd$2_sat(a, b)
sub_sat: __hsub$2_sat(a, b)
mul_sat: __hmul$2_sat(a, b)
min: __hmin$2(a, b)
max: __hmax$2(a, b)
min_nan: __hmin$2_nan(a, b)
max_nan: __hmax$2_nan(a, b)
operator +: a + b
operator -: a - b
operator *: a * b
operator /: a / b
"""
_TERNARY = """
fma: __hfma$2(a, b, c)
fma_sat: __hfma$2_sat(a, b, c)
fma_relu: __hfma$2_relu(a, b, c)
"""
_ORDERS = ("eq", "ne", "le", "ge", "lt", "gt", "equ", "neu", "leu", "geu", "ltu", "gtu")


def _halves(t: str, n: str) -> list[Operation]:
    """Of one type; `n` as in `__float2half`."""
    pair = f"{t}x2"
    found = []
    for kind, two, div in ((t, "", "__hdiv"), (pair, "2", "__h2div")):
        words = {"2": two, "div": div}
        found += family(kind, kind, _UNARY, **words)
        found += family(kind, f"{kind} {kind}", _BINARY, **words)
        found += family(kind, f"{kind} {kind} {kind}", _TERNARY, **words)
    single = bits_of(*(f"__h{order}(a, b)" for order in _ORDERS))
    both = bits_of(*(f"__hb{order}2(a, b)" for order in _ORDERS))
    masks = each("$o: __h$o2_mask(a, b)", o=_ORDERS)
    found += [
        *family("s32", f"{t} {t}", f"orders: {single}"),
        *family("u32", f"{pair} {pair}", f"{masks}\norders: {both}"),
        *family("s32", t, "nan or inf: __hisnan(a) | (__hisinf(a) & 3) << 1"),
        *family("f32", t, f"to float: __{n}2float(a)"),
        *family(t, "f32", each(f"from float $r: __float2{n}_$r(a)", r=ROUNDS)),
        *family(t, "f64", f"from double: __double2{n}(a)"),
        *family(pair, "f32 f32", f"from floats: __floats2{n}2_rn(a, b)"),
    ]
    for integer, word in {"s16": "short", "u16": "ushort", **WORDS}.items():
        to = each(f"to {word} $r: __{n}2{word}_$r(a)", r=ROUNDS)
        back = each(f"from {word} $r: __{word}2{n}_$r(a)", r=ROUNDS)
        found += [*family(integer, t, to), *family(t, integer, back)]
    return found


HALF_OPERATIONS = [*_halves("f16", "half"), *_halves("bf16", "bfloat16")]
