"""The C++ types of cuda_fp8.h: rounding, saturation, every value back."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.launching import launch

FORMATS = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
CODES = np.arange(256, dtype=np.uint8)


def run(device, name, x, *, out, n, **config):
    return launch(
        device, "fp8.cu", name, x, n, out=[(n, d) for d in out],
        grid=-(-n // 128), block=128, **config,
    )  # fmt: skip


def numbers(dtype):
    """Finite values from 0 up, in the order of their codes."""
    values = CODES[:128].view(dtype).astype(np.float64)
    return values[np.isfinite(values)]


def around(dtype, rng):
    """Values, and what lies halfway between two, nearly halfway, and outside."""
    values = numbers(dtype)
    halfway = (values[1:] + values[:-1]) / 2
    nearly = np.concatenate([halfway * (1 + 2**-9), halfway * (1 - 2**-9)])
    outside = [values[-1] * 1.01, values[-1] * 1.2, 1e30, np.inf, 1e-30]
    positive = np.concatenate([values, halfway, nearly, outside])
    return np.concatenate([positive, -positive, rng.normal(0, 100, 1000)])


def nearest(x, dtype):
    """Codes of the nearest values, even codes for ties, the largest for more."""
    values = numbers(dtype)
    size = np.minimum(np.abs(x), values[-1])
    above = np.clip(np.searchsorted(values, size), 1, None)
    low, high = size - values[above - 1], values[above] - size
    code = np.where((low < high) | ((low == high) & (above % 2 == 1)), above - 1, above)
    return (code | np.where(np.signbit(x), 128, 0)).astype(np.uint8)


@pytest.mark.parametrize("wide", ["float32", "float64", "float16", "bfloat16", "int32"])
@pytest.mark.parametrize("name", FORMATS)
def test_constructors_round_to_nearest_and_saturate(device, rng, name, wide):
    dtype = FORMATS[name]
    exact = around(dtype, rng)
    with np.errstate(over="ignore", invalid="ignore"):
        x = np.clip(exact, -(2**31), 2**31 - 128) if wide == "int32" else exact
        x = x.astype(wide)
    if wide == "float64":  # what float32 would lose decides
        x = np.concatenate([x, np.nextafter(exact, np.inf)])
    got = run(device, "narrowed", x, out=[dtype], n=x.size, template=(dtype, x.dtype))
    want = nearest(x.astype(np.float64), dtype)
    if wide == "int32":  # which has one zero
        want[x == 0] = 0
    np.testing.assert_array_equal(got.view(np.uint8), want)


@pytest.mark.parametrize("name", FORMATS)
def test_every_value_widens_exactly(device, name):
    codes = CODES.view(FORMATS[name])
    types = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
    found = run(device, "widened", codes, out=types, n=256, template=FORMATS[name])
    for got in found:
        np.testing.assert_array_equal(
            got.astype(np.float64), codes.astype(np.float64), err_msg=got.dtype
        )


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("lanes", [2, 4])
def test_vectors(device, rng, name, lanes):
    dtype = FORMATS[name]
    x = around(dtype, rng).astype(np.float32)
    n = x.size // lanes
    x = x[: n * lanes].reshape(n, lanes)
    narrow, back = launch(
        device, "fp8.cu", "vectors", x, n, out=[(x.shape, dtype), (x.shape, x.dtype)],
        grid=-(-n // 128), block=128,
        template=(f"__nv_fp8x{lanes}_{name}", f"float{lanes}"),
    )  # fmt: skip
    want = nearest(x.astype(np.float64), dtype)
    np.testing.assert_array_equal(narrow.view(np.uint8), want)
    np.testing.assert_array_equal(back, want.view(dtype).astype(np.float32))


def test_what_does_not_fit(device, rng):
    values = [around(dtype, rng) for dtype in FORMATS.values()]
    x = np.concatenate([*values, [np.nan]]).astype(np.float32)
    found = run(device, "unbounded", x, out=[np.uint8] * 2, n=x.size)
    for codes, dtype in zip(found, FORMATS.values(), strict=True):
        got = codes.view(dtype).astype(np.float32)
        np.testing.assert_array_equal(got, x.astype(dtype).astype(np.float32))


def test_scales(device):
    codes = CODES.view(ml_dtypes.float8_e8m0fnu)
    got = run(device, "scales", codes, out=[np.float32], n=256)
    powers = np.ldexp(np.float32(1), np.arange(255) - 127)  # one is subnormal
    np.testing.assert_array_equal(got, np.append(powers, np.nan))
