"""Eight-bit floats of PTX, on every value and between all of them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.ptx_runner import Form, run

FP8 = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


def encode(name, high, low):
    form = Form(f"cvt.rn.satfinite.{name}x2.f32 %d, %a, %b;", ("b32",) * 2, ("b16",))
    (pairs,) = run(form, *(np.float32(v).view(np.uint32) for v in (high, low)))
    return pairs >> 8, pairs & 255


@pytest.mark.parametrize("name", FP8)
def test_decoding_every_value(name):
    codes = np.arange(256, dtype=np.uint16)
    form = Form(f"cvt.rn.f16x2.{name}x2 %d, %a;", ("b16",), ("b32",))
    (pairs,) = run(form, codes << 8 | codes[::-1])
    low, high = pairs.view(np.float16).reshape(-1, 2).T
    with np.errstate(invalid="ignore"):
        expected = codes.astype(np.uint8).view(FP8[name]).astype(np.float16)
    np.testing.assert_array_equal(high, expected)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(high)[number], (codes > 127)[number])
    np.testing.assert_array_equal(low, expected[::-1])


@pytest.mark.parametrize("name", FP8)
def test_rounding_and_saturation(name):
    dtype = FP8[name]
    largest = np.float32(ml_dtypes.finfo(dtype).max)
    finite = np.arange(128, dtype=np.uint8).view(dtype).astype(np.float32)
    finite = finite[np.isfinite(finite)]
    middles = (finite[:-1] + finite[1:]) / 2
    above, below = middles * np.float32(1.0001), middles * np.float32(0.9999)
    others = np.float32([largest * 1.5, 1e30, np.inf, 1e-30, 2.0**-149])
    values = np.concatenate([finite, middles, above, below, others])
    expected = np.minimum(values, largest).astype(dtype).view(np.uint8)
    high, low = encode(name, values, -values)
    np.testing.assert_array_equal(high, expected)
    np.testing.assert_array_equal(low, expected | 128)
    high, _ = encode(name, [np.nan], [0])
    assert high.tolist() == [127]


@pytest.mark.parametrize("name", FP8)
def test_encoding_halves(name):
    halves = np.random.default_rng(8).normal(0, 300, 2000).astype(np.float16)
    form = Form(f"cvt.rn.satfinite.{name}x2.f16x2 %d, %a;", ("b32",), ("b16",))
    (pairs,) = run(form, halves.view(np.uint32))
    low, high = halves.astype(np.float32).reshape(-1, 2).T
    expected_high, expected_low = encode(name, high, low)
    np.testing.assert_array_equal(pairs, expected_high << 8 | expected_low)
