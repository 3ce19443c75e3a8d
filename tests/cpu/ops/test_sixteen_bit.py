"""Values of __half, __nv_bfloat16 and fp8, run on the CPU, against NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.elementwise import elementwise

RNG = np.random.default_rng(7)
# Every 16-bit pattern once.
PATTERNS = np.arange(1 << 16, dtype=np.uint16)
FORMATS = {
    "half": ("cuda_fp16.h", "__half", np.dtype(np.float16)),
    "bfloat16": ("cuda_bf16.h", "__nv_bfloat16", np.dtype(ml_dtypes.bfloat16)),
}


def floats_around(dtype):
    """Floats on, between and halfway between the values of a 16-bit format."""
    values = PATTERNS.view(dtype).astype(np.float32)
    values = np.unique(values[np.isfinite(values)])
    middles = (values[1:].astype(np.float64) + values[:-1]) / 2
    middles = middles.astype(np.float32)
    return np.concatenate(
        [
            values,
            middles,
            np.nextafter(middles, np.float32(np.inf)),
            np.nextafter(middles, np.float32(-np.inf)),
            np.float32([np.inf, -np.inf, 3e38, -3e38, 65519, 65520]),
        ]
    ).astype(np.float32)


def same_bits(got, want):
    """Equal bit for bit, any NaN counting as any other."""
    with np.errstate(invalid="ignore"):
        nan = np.isnan(want.astype(np.float32))
        assert np.isnan(got.astype(np.float32))[nan].all()
    np.testing.assert_array_equal(got.view(np.uint16)[~nan], want.view(np.uint16)[~nan])


@pytest.mark.parametrize("name", FORMATS)
def test_to_float_is_exact(name):
    header, t, dtype = FORMATS[name]
    _, got = elementwise(
        f"p1[i] = __{name}2float(({t}&)p0[i]);",
        PATTERNS,
        np.zeros(len(PATTERNS), np.float32),
        includes=[header],
    )
    np.testing.assert_array_equal(got, PATTERNS.view(dtype).astype(np.float32))


@pytest.mark.parametrize("name", FORMATS)
def test_from_float_rounds_to_nearest_even(name):
    header, t, dtype = FORMATS[name]
    x = floats_around(dtype)
    _, got = elementwise(
        f"({t}&)p1[i] = __float2{name}(p0[i]);",
        x,
        np.zeros(len(x), np.uint16),
        includes=[header],
    )
    with np.errstate(all="ignore"):
        same_bits(got.view(dtype), x.astype(dtype))


@pytest.mark.parametrize("mode", ["rz", "rd", "ru"])
@pytest.mark.parametrize("name", FORMATS)
def test_from_float_directed(name, mode):
    header, t, dtype = FORMATS[name]
    x = floats_around(dtype)
    _, got = elementwise(
        f"({t}&)p1[i] = __float2{name}_{mode}(p0[i]);",
        x,
        np.zeros(len(x), np.uint16),
        includes=[header],
    )
    got = got.view(dtype).astype(np.float64)
    assert not np.isnan(got).any()
    exact = x.astype(np.float64)
    down = (got <= exact) if mode == "rd" else (got >= exact) if mode == "ru" else None
    assert (np.abs(got) <= np.abs(exact) if down is None else down).all()
    with np.errstate(invalid="ignore"):
        values = np.unique(PATTERNS.view(dtype).astype(np.float64))
    values = values[~np.isnan(values)]
    # No other value lies between the result and the argument.
    low, high = np.minimum(got, exact), np.maximum(got, exact)
    between = np.searchsorted(values, high, "left") - np.searchsorted(
        values, low, "right"
    )
    assert (between <= 0).all()


@pytest.mark.parametrize("name", FORMATS)
def test_from_wider_types_rounds_once(name):
    header, t, dtype = FORMATS[name]
    # Just past the middle between two values: a first rounding to float loses it.
    step = 2.0 ** (10 if name == "half" else 7)
    x = np.float64([1 + 0.5 / step + 2**-40, 1 + 0.5 / step - 2**-40, -1 - 2**-30, 0.1])
    wide = np.int64([2**40 + 2**32 + 1, 2**40 + 2**32, -(2**40) - 2**32 - 1, 77])
    _, _, got, from_integer = elementwise(
        f"({t}&)p2[i] = __double2{name}(p0[i]);({t}&)p3[i] = __ll2{name}_rn(p1[i]);",
        x,
        wide,
        np.zeros(4, np.uint16),
        np.zeros(4, np.uint16),
        includes=[header],
    )
    up = np.float64([1 + 1 / step, 1.0, -1.0, 0.1]).astype(dtype)
    same_bits(got.view(dtype), up)
    if name == "bfloat16":
        want = np.float64([2.0**40 + 2**33, 2.0**40, -(2.0**40) - 2**33, 77])
        same_bits(from_integer.view(dtype), want.astype(dtype))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("op", ["+", "-", "*", "/"])
def test_arithmetic(name, op):
    header, t, dtype = FORMATS[name]
    a, b = RNG.permutation(PATTERNS), RNG.permutation(PATTERNS)
    _, _, got = elementwise(
        f"({t}&)p2[i] = ({t}&)p0[i] {op} ({t}&)p1[i];",
        a,
        b,
        np.zeros(len(a), np.uint16),
        includes=[header],
    )
    with np.errstate(all="ignore"):
        x, y = (v.view(dtype).astype(np.float64) for v in (a, b))
        exact = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[op]
        # Computed in double and rounded through float: two roundings, which are as
        # good as one while float has more than twice the digits.
        wide = exact(x, y)
        want = wide.astype(np.float32).astype(dtype)
        normal = ~(np.abs(wide) < np.finfo(np.float32).tiny) | (wide == 0)
        same_bits(got.view(dtype)[normal], want[normal])


@pytest.mark.parametrize("name", FORMATS)
def test_comparisons_with_nan(name):
    header, t, dtype = FORMATS[name]
    x = np.float32([1, 2, np.nan, -0.0, np.inf]).astype(dtype)
    a, b = (v.ravel().view(np.uint16).copy() for v in np.meshgrid(x, x))
    body = " ".join(
        f"p2[i] |= (unsigned)__h{c}(({t}&)p0[i], ({t}&)p1[i]) << {k};"
        for k, c in enumerate(
            ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu"]
        )
    )
    _, _, got = elementwise(body, a, b, np.zeros(25, np.uint32), includes=[header])
    f, g = a.view(dtype).astype(np.float32), b.view(dtype).astype(np.float32)
    unordered = np.isnan(f) | np.isnan(g)
    want = [f == g, (f != g) & ~unordered, f < g, f <= g, f > g, f >= g]
    want += [(f == g) | unordered, f != g, (f < g) | unordered, (f <= g) | unordered]
    for k, w in enumerate(want):
        np.testing.assert_array_equal(got >> k & 1, w)


@pytest.mark.parametrize("name", FORMATS)
def test_integers_saturate(name):
    header, t, dtype = FORMATS[name]
    x = np.float32([6e4, -6e4, 2.5, -2.5, 300, np.nan, np.inf]).astype(dtype)
    _, ints, shorts = elementwise(
        f"p1[i] = __{name}2int_rn(({t}&)p0[i]);p2[i] = __{name}2short_rz(({t}&)p0[i]);",
        x.view(np.uint16),
        np.zeros(7, np.int32),
        np.zeros(7, np.int32),
        includes=[header],
    )
    f = np.nan_to_num(x.astype(np.float64), nan=0, posinf=1e30)
    np.testing.assert_array_equal(ints, np.rint(np.clip(f, -(2.0**31), 2.0**31 - 1)))
    np.testing.assert_array_equal(shorts, np.trunc(np.clip(f, -(2.0**15), 2**15 - 1)))


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("e4m3", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2)],
)
def test_fp8(name, dtype):
    codes = np.arange(256, dtype=np.uint8)
    values = np.unique(codes.view(dtype).astype(np.float32))
    values = values[np.isfinite(values)]
    middles = (values[1:] + values[:-1]) / 2
    x = np.concatenate([values, middles, np.nextafter(middles, np.float32(9e9))])
    x = x.astype(np.float32)
    _, got = elementwise(
        f"p1[i] = __nv_fp8_{name}(p0[i]).__x;",
        x,
        np.zeros(len(x), np.uint8),
        includes=["cuda_fp8.h"],
    )
    np.testing.assert_array_equal(got, x.astype(dtype).view(np.uint8))
    _, back = elementwise(
        f"__nv_fp8_{name} v; v.__x = p0[i]; p1[i] = float(v);",
        codes,
        np.zeros(256, np.float32),
        includes=["cuda_fp8.h"],
    )
    np.testing.assert_array_equal(back, codes.view(dtype).astype(np.float32))
