"""Bit fields, fp8, atomics and the mathematical library of compiled kernels."""

from __future__ import annotations

import ctypes
import itertools
import math

import ml_dtypes
import numpy as np
import pytest
from _host_helpers import F32, F64, SYMBOLS, U16, U32, U64, helper, same

FP8 = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


@pytest.mark.parametrize("name", FP8)
def test_fp8_decodes_every_value(name):
    function = helper(f"jrc_cvt_f16x2_{name}x2", U32, U32)
    with np.errstate(invalid="ignore"):
        decoded = np.arange(256, dtype=np.uint8).view(FP8[name]).astype(np.float16)
    for bits, value in enumerate(decoded):
        pair = np.array([function(bits << 8 | 0x40)], np.uint32).view(np.float16)
        assert same(float(pair[1]), float(value)), hex(bits)
        assert float(pair[0]) == float(decoded[0x40])


@pytest.mark.parametrize("name", FP8)
def test_fp8_rounds_and_saturates(name):
    dtype = FP8[name]
    function = helper(f"jrc_cvt_{name}x2_f32", U16, F32, F32)
    largest = float(ml_dtypes.finfo(dtype).max)
    finite = np.arange(128, dtype=np.uint8).view(dtype).astype(np.float32)
    finite = finite[np.isfinite(finite)]
    middles = (finite[:-1] + finite[1:]) / 2
    values = [*finite, *middles, *(middles * 1.0001), *(middles * 0.9999)]
    values += [largest * 1.5, 1e30, math.inf, 1e-30, 2.0**-149]
    for value in map(float, values):
        expected = int(np.float32(min(value, largest)).astype(dtype).view(np.uint8))
        assert function(value, -value) == expected << 8 | expected | 0x80, value
    assert function(math.nan, 0.0) == 0x7F00


def test_fp8_from_halves():
    for name in FP8:
        function = helper(f"jrc_cvt_{name}x2_f16x2", U16, U32)
        direct = helper(f"jrc_cvt_{name}x2_f32", U16, F32, F32)
        for high, low in [(1.0, -2.5), (300.0, 0.01), (60000.0, -0.0)]:
            halves = np.array([low, high], np.float16)
            packed = int(halves.view(np.uint32)[0])
            assert function(packed) == direct(float(halves[1]), float(halves[0]))


def words(width, count=400):
    rng = np.random.default_rng(width)
    values = rng.integers(0, 2**width, size=count, dtype=np.uint64)
    return [int(value) for value in values] + [0, 1, 2**width - 1, 2 ** (width - 1)]


def fields(width):
    rng = np.random.default_rng(9)
    for value in words(width):
        yield value, *(int(x) for x in rng.integers(0, 80, size=2))
        yield value, int(rng.integers(0, 2**32)), int(rng.integers(0, 2**32))


@pytest.mark.parametrize("width", [32, 64])
def test_bit_field_extract(width):
    word = U32 if width == 32 else U64
    unsigned = helper(f"jrc_bfe_u{width}", word, word, U32, U32)
    signed = helper(f"jrc_bfe_s{width}", word, word, U32, U32)
    mask = 2**width - 1
    for value, position, length in fields(width):
        start, count = position & 255, length & 255
        field = (value >> start) & ((1 << count) - 1)
        assert unsigned(value, position, length) == field
        wide = value - 2**width if value >> (width - 1) else value
        field = (wide >> start) & ((1 << count) - 1)
        if count and field >> (count - 1):
            field -= 1 << count
        assert signed(value, position, length) == field & mask


@pytest.mark.parametrize("width", [32, 64])
def test_bit_field_insert(width):
    word = U32 if width == 32 else U64
    function = helper(f"jrc_bfi_b{width}", word, word, word, U32, U32)
    for field, position, length in fields(width):
        base = field * 0x9E3779B97F4A7C15 % 2**width
        start, count = position & 255, length & 255
        mask = ((1 << count) - 1) << start & (2**width - 1)
        expected = base & ~mask | field << start & mask
        assert function(field, base, position, length) == expected


def test_byte_permutation():
    function = helper("jrc_prmt", U32, U32, U32, U32)
    values = words(32)
    for low, high, selectors in zip(values, values[1:], values[2:], strict=False):
        source = [*low.to_bytes(4, "little"), *high.to_bytes(4, "little")]
        picked = []
        for i in range(4):
            selector = selectors >> 4 * i
            byte = source[selector & 7]
            picked.append((255 if byte & 128 else 0) if selector & 8 else byte)
        assert function(low, high, selectors) == int.from_bytes(picked, "little")


def test_masks_and_sign_extension():
    clamp = helper("jrc_bmsk_clamp", U32, U32, U32)
    wrap = helper("jrc_bmsk_wrap", U32, U32, U32)
    extend = helper("jrc_szext_clamp_s32", U32, U32, U32)
    truncate = helper("jrc_szext_wrap_u32", U32, U32, U32)
    for position, length in itertools.product(range(0, 70, 3), repeat=2):
        mask = ((1 << min(length, 32)) - 1) << position & 0xFFFFFFFF
        assert clamp(position, length) == (0 if position >= 32 else mask)
        mask = ((1 << length % 32) - 1) << position % 32 & 0xFFFFFFFF
        assert wrap(position, length) == mask
    assert extend(0x80, 8) == 0xFFFFFF80
    assert extend(0x80, 9) == 0x80
    assert extend(0xDEADBEEF, 40) == 0xDEADBEEF
    assert truncate(0xDEADBEEF, 40) == 0xEF


def test_find_nth_set_bit():
    function = helper("jrc_fns", U32, U32, U32, ctypes.c_int32)
    for mask in words(32, 100):
        bits = [i for i in range(32) if mask >> i & 1]
        for base, n in itertools.product((0, 7, 31), (0, 1, 3, -1, -3)):
            if n == 0:
                expected = base if base in bits else None
            elif n > 0:
                expected = next(iter([i for i in bits if i >= base][n - 1 :]), None)
            else:
                found = [i for i in reversed(bits) if i <= base]
                expected = next(iter(found[-n - 1 :]), None)
            assert function(mask, base, n) == (
                0xFFFFFFFF if expected is None else expected
            )


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_atomics_on_pairs(dtype):
    name = "f16" if dtype is np.float16 else "bf16"
    cell = np.array([1.5, -2.0], dtype)
    added = np.array([0.25, 8.0], dtype)
    operand = int(added.view(np.uint32)[0])
    before = int(cell.view(np.uint32)[0])
    for operation, expected in [
        ("add", cell + added),
        ("max", np.maximum(cell, added)),
        ("min", np.minimum(cell, added)),
    ]:
        word = np.array([before], np.uint32)
        function = helper(f"jrc_atom_{operation}_{name}x2", U32, ctypes.c_void_p, U32)
        assert function(word.ctypes.data, operand) == before
        assert word.view(dtype).tolist() == expected.tolist()


def test_mathematical_functions_are_resolved():
    assert all(SYMBOLS.values())
    for name in ("exp", "powf", "erfcf", "fmodf", "roundeven", "exp10f", "memcpy"):
        assert SYMBOLS[name] != 0
    assert helper("exp10f", F32, F32)(2.0) == 100.0
    assert [helper("roundeven", F64, F64)(x) for x in (0.5, 1.5, 2.5)] == [0, 2, 2]
