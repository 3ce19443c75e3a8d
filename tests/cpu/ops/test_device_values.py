"""Layout of our vector types and values of our math, against NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special as special
from support.elementwise import elementwise


def test_alignment_and_size_of_vectors():
    table = {
        "char4": (4, 4),
        "char3": (3, 1),
        "short2": (4, 4),
        "short4": (8, 8),
        "int2": (8, 8),
        "int3": (12, 4),
        "int4": (16, 16),
        "float1": (4, 4),
        "float2": (8, 8),
        "float3": (12, 4),
        "float4": (16, 16),
        "double2": (16, 16),
        "double3": (24, 8),
        "double4": (32, 16),
        "longlong2": (16, 16),
        "ulonglong4": (32, 16),
        "double4_32a": (32, 32),
        "dim3": (12, 4),
    }
    body = " ".join(
        f"if (i == {k}) {{ p0[i] = sizeof({t}); p1[i] = alignof({t}); }}"
        for k, t in enumerate(table)
    )
    zeros = np.zeros(len(table), np.int32)
    sizes, alignments = elementwise(body, zeros, zeros)
    got = list(zip(sizes.tolist(), alignments.tolist(), strict=True))
    assert dict(zip(table, got, strict=True)) == table


SPECIAL = {
    "erfinv": (special.erfinv, (-0.999999, 0.999999)),
    "erfcinv": (special.erfcinv, (1e-12, 1.999999)),
    "erfcx": (special.erfcx, (-2, 60)),
    "normcdf": (special.ndtr, (-30, 8)),
    "normcdfinv": (special.ndtri, (1e-12, 0.999999)),
    "sinpi": (lambda x: np.sin(np.pi * (x - 2 * np.rint(x / 2))), (-9, 9)),
    "cospi": (lambda x: np.cos(np.pi * (x - 2 * np.rint(x / 2))), (-9, 9)),
    "exp10": (special.exp10, (-30, 30)),
    "cyl_bessel_i0": (special.i0, (-40, 40)),
    "cyl_bessel_i1": (special.i1, (-40, 40)),
    "rcbrt": (lambda x: 1 / np.cbrt(x), (-100, -1)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), (1e-30, 100)),
    "lgamma": (special.gammaln, (0.1, 50)),
    "j1": (special.j1, (0, 30)),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions(name):
    reference, (low, high) = SPECIAL[name]
    x = np.linspace(low, high, 1001)
    f = x.astype(np.float32)
    _, doubles, _, singles = elementwise(
        f"p1[i] = {name}(p0[i]); p3[i] = {name}f(p2[i]);",
        x,
        np.zeros_like(x),
        f,
        np.zeros_like(f),
    )
    np.testing.assert_allclose(doubles, reference(x), rtol=3e-13, atol=3e-15)
    want = reference(f.astype(np.float64))
    np.testing.assert_allclose(singles, want, rtol=5e-7, atol=1e-7)


def test_decomposition():
    x = np.float32([0, -0.0, 1, -3.75, 1e-30, 1e38, 5.5, -1e-3])
    zeros, integers = np.zeros(8, np.float32), np.zeros(8, np.int32)
    _, mantissa, exponent, fraction, whole, remainder, quotient = elementwise(
        "p1[i] = frexpf(p0[i], &p2[i]); p3[i] = modff(p0[i], &p4[i]);"
        "p5[i] = remquof(p0[i], 1.5f, &p6[i]);",
        x, zeros, integers, zeros, zeros, zeros, integers,
    )  # fmt: skip
    want_mantissa, want_exponent = np.frexp(x)
    np.testing.assert_array_equal(mantissa, want_mantissa)
    np.testing.assert_array_equal(exponent, want_exponent)
    want_fraction, want_whole = np.modf(x)
    np.testing.assert_array_equal(fraction, want_fraction)
    np.testing.assert_array_equal(whole, want_whole)
    turns = np.rint(x.astype(np.float64) / 1.5)
    near = np.abs(x) < 1e6
    np.testing.assert_allclose(remainder[near], (x - turns * 1.5)[near], atol=1e-6)
    np.testing.assert_array_equal(quotient[near] & 7, turns[near].astype(int) & 7)


def test_integer_intrinsics_wrap():
    """Also where the compiler might conclude that nothing overflows."""
    x = np.int32([0x7FFFFF, 0x7FFFFFFF])
    _, found = elementwise(
        "p1[i] = (__mul24(p0[i], p0[i]) < 0)"
        " | (__viaddmin_s32(p0[i], 1, p0[i]) < p0[i]) << 1;",
        x,
        np.zeros_like(x),
    )
    assert found.tolist() == [1, 2]
