"""Rounding in the helpers that compiled kernels call, against exact arithmetic."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from _host_helpers import F32, F64, I64, U16, U32, U64, helper, same

DIRECTIONS = ("rz", "rm", "rp")

SPECIAL = (
    0.0, -0.0, 1.0, -1.0, 3.0, math.inf, -math.inf, math.nan,
    2.0**-149, -(2.0**-149), 2.0**-126, 2.0**127, -(2.0**127), 1 + 2.0**-23,
)  # fmt: skip


def samples(dtype, count=300):
    """Random finite values over the whole exponent range, then special ones."""
    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    words = np.random.default_rng(7).integers(
        0, np.iinfo(bits).max, size=count, dtype=bits, endpoint=True
    )
    values = words.view(dtype)
    near_one = np.random.default_rng(8).uniform(-4, 4, size=count).astype(dtype)
    everything = [*values[np.isfinite(values)], *near_one, *SPECIAL]
    return [float(dtype(value)) for value in everything]


def tuples(dtype, arity):
    """Tuples of samples: shuffled against each other, and all special ones."""
    values = samples(dtype)
    rng = np.random.default_rng(arity)
    columns = [rng.permutation(values) for _ in range(arity)]
    yield from zip(*(column.tolist() for column in columns), strict=True)
    yield from itertools.product(SPECIAL[:10], repeat=arity)


@dataclass(frozen=True)
class Format:
    """A binary floating-point format."""

    mantissa_bits: int
    least_exponent: int

    @property
    def largest(self) -> Fraction:
        exponent = 1 - self.least_exponent
        return (2 - Fraction(1, 2**self.mantissa_bits)) * Fraction(2) ** exponent

    def neighbour(self, exact: Fraction, direction: str) -> float:
        """Rounds an exact number other than 0 in a direction, without any float."""
        sign = -1 if exact < 0 else 1
        if abs(exact) > self.largest:
            away = direction == ("rp" if exact > 0 else "rm")
            return sign * (math.inf if away else float(self.largest))
        magnitude = abs(exact)
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        if Fraction(2) ** exponent > magnitude:
            exponent -= 1
        exponent = max(exponent, self.least_exponent)
        unit = Fraction(2) ** (exponent - self.mantissa_bits)
        round_ = {"rm": math.floor, "rp": math.ceil, "rz": math.trunc}[direction]
        return float(round_(exact / unit) * unit)


FORMATS = {
    "f16": Format(10, -14),
    "bf16": Format(7, -126),
    "f32": Format(23, -126),
    "f64": Format(52, -1022),
}
TYPES = {"f32": (F32, np.float32), "f64": (F64, np.float64)}


BINARY = {
    "fadd": lambda a, b: a + b,
    "fsub": lambda a, b: a - b,
    "fmul": lambda a, b: a * b,
    "fdiv": lambda a, b: a / b,
}


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize("width", ["f32", "f64"])
def test_directed_arithmetic(operation, direction, width):
    ctype, dtype = TYPES[width]
    function = helper(f"jrc_{operation}_{direction}_{width}", ctype, ctype, ctype)
    compute = BINARY[operation]
    for a, b in tuples(dtype, 2):
        result = function(a, b)
        if not (math.isfinite(a) and math.isfinite(b)) or (
            operation == "fdiv" and b == 0
        ):
            with np.errstate(all="ignore"):
                assert same(result, float(compute(dtype(a), dtype(b)))), (a, b)
            continue
        exact = compute(Fraction(a), Fraction(b))
        if exact == 0:
            assert result == 0, (a, b)
            continue
        assert result == FORMATS[width].neighbour(exact, direction), (a, b)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("width", ["f32", "f64"])
def test_directed_fma(direction, width):
    ctype, dtype = TYPES[width]
    function = helper(f"jrc_fma_{direction}_{width}", ctype, ctype, ctype, ctype)
    for a, b, c in tuples(dtype, 3):
        if not all(map(math.isfinite, (a, b, c))):
            continue
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        if exact == 0:
            assert function(a, b, c) == 0, (a, b, c)
        else:
            expected = FORMATS[width].neighbour(exact, direction)
            assert function(a, b, c) == expected, (a, b, c)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("width", ["f32", "f64"])
def test_directed_square_root(direction, width):
    ctype, dtype = TYPES[width]
    function = helper(f"jrc_sqrt_{direction}_{width}", ctype, ctype)
    for value in samples(dtype):
        result = function(value)
        if not math.isfinite(value) or value <= 0:
            with np.errstate(all="ignore"):
                assert same(result, float(np.sqrt(dtype(value)))), value
            continue
        target = Fraction(value)
        step_down = float(np.nextafter(dtype(result), dtype(0)))
        step_up = float(np.nextafter(dtype(result), dtype(math.inf)))
        if direction == "rp":
            assert Fraction(step_down) ** 2 < target <= Fraction(result) ** 2, value
        else:
            assert Fraction(result) ** 2 <= target < Fraction(step_up) ** 2, value


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("width", ["f32", "f64"])
def test_directed_conversion_of_integers(direction, signed, width):
    ctype, _ = TYPES[width]
    name = f"jrc_{'s' if signed else 'u'}2f_{direction}_{width}"
    function = helper(name, ctype, I64 if signed else U64)
    words = np.random.default_rng(3).integers(0, 2**64, size=500, dtype=np.uint64)
    shifts = np.random.default_rng(4).integers(0, 64, size=500, dtype=np.uint64)
    values = [int(word) for word in words >> shifts]
    values += [0, 1, 2**24, 2**24 + 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]
    if signed:
        values = [value - 2**64 if value >= 2**63 else value for value in values]
        values += [-(2**24) - 1, -(2**63)]
    for value in values:
        expected = FORMATS[width].neighbour(Fraction(value), direction)
        assert function(value) == expected, value


NARROW = {
    "f16": (np.float16, U16),
    "bf16": (ml_dtypes.bfloat16, U16),
    "f32": (np.float32, F32),
}


def narrow_value(target, result) -> float:
    dtype, ctype = NARROW[target]
    return result if ctype is F32 else float(np.uint16(result).view(dtype))


def narrow_samples(target, source):
    """Values between neighbours of the narrow format, exact ones, and wide ones."""
    if target == "f32":
        yield from samples(np.float64)
        yield from (1.0 + 2.0**-30, -1.0 - 2.0**-30, 1e39, -1e39, 1e-50, -1e-50)
        return
    dtype = NARROW[target][0]
    words = np.random.default_rng(5).integers(0, 2**16, size=400, dtype=np.uint16)
    for value in words.view(dtype).astype(np.float64).tolist():
        yield value
        for factor in (1 + 2.0**-12, 1 - 2.0**-12, 1 + 2.0**-10):
            yield float(source(value * factor))
    yield from (1e-30, -1e-30, 65519.0, 65520.0, 65536.0, -65520.0, 2.0**-25, 3e38)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    ("target", "source"),
    [("f16", "f32"), ("f16", "f64"), ("bf16", "f32"), ("f32", "f64")],
)
def test_directed_narrowing(direction, target, source):
    result_type = NARROW[target][1]
    ctype, wide = TYPES[source]
    function = helper(f"jrc_fptrunc_{direction}_{target}_{source}", result_type, ctype)
    for value in narrow_samples(target, wide):
        exact_value = float(wide(value))
        result = narrow_value(target, function(exact_value))
        if math.isnan(exact_value):
            assert math.isnan(result)
        elif math.isinf(exact_value) or exact_value == 0:
            assert same(result, exact_value), exact_value
        else:
            exact = Fraction(exact_value)
            expected = FORMATS[target].neighbour(exact, direction)
            assert result == expected, exact_value


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_nearest_narrowing(dtype):
    name = "f16" if dtype is np.float16 else "bf16"
    from_f32 = helper(f"jrc_f32_to_{name}", U16, F32)
    widen = helper(f"jrc_{name}_to_f32", F32, U32)
    every = np.arange(2**16, dtype=np.uint16)
    values = every.view(dtype).astype(np.float32)
    for bits, value in zip(every.tolist(), values.tolist(), strict=True):
        # The upper half of the register is undefined in generated code.
        assert same(widen(bits | 0xABCD0000), value), hex(bits)
    with np.errstate(all="ignore"):
        halfway = (values[:-1].astype(np.float64) + values[1:].astype(np.float64)) / 2
        candidates = np.concatenate([values, halfway.astype(np.float32)])[::7]
        expected = candidates.astype(dtype).view(np.uint16)
    for value, bits in zip(candidates.tolist(), expected.tolist(), strict=True):
        if not math.isnan(value):
            assert from_f32(value) == bits, value


def test_half_from_double_rounds_once():
    function = helper("jrc_f64_to_f16", U16, F64)
    # Rounding to float first would give a tie, and then the even neighbour.
    value = 1 + 2.0**-11 + 2.0**-40
    assert function(value) == np.float16(value).view(np.uint16)
    assert function(1 + 2.0**-11) == np.float16(1).view(np.uint16)
