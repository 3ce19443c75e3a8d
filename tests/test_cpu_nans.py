"""Bits of NaN: arithmetic on the CPU gives the device's, copies keep their own."""

from __future__ import annotations

import numpy as np
import pytest
from _device_runner import launch

pytest.importorskip("llvmlite")

CANONICAL = 0x7FFFFFFF
NANS = np.array(
    [0x7FC00005, 0xFFC00005, 0x7F800003, 0xFF912345, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FC00000]
    * 8,
    np.uint32,
)
COPIES = {
    "load and store": "p1[i] = p0[i];",
    "selection": "float a = p0[i]; p1[i] = a > 0.0f ? 1.0f : a;",
    "minimum with a number": "p1[i] = fminf(p0[i], 2.0f) == 2.0f ? p0[i] : 0.0f;",
    "bits": "p1[i] = __uint_as_float(__float_as_uint(p0[i]));",
    "pair": "float2 a = make_float2(p0[i], p0[i]); p1[i] = a.y;",
    "local array": "float a[4]; a[i & 3] = p0[i]; p1[i] = a[i & 3];",
}
RESULTS = {
    "sum": "p1[i] = p0[i] + 1.0f;",
    "negation": "p1[i] = -p0[i];",
    "size": "p1[i] = fabsf(p0[i]);",
    "root": "p1[i] = sqrtf(p0[i]);",
    "root of a negative number": "p1[i] = sqrtf(p0[i] == 0.0f ? 1.0f : -2.0f);",
    "infinities": "float a = __int_as_float(0x7f800000); p1[i] = a - fmaxf(p0[i], a);",
    "loop": "float s = 0.0f; for (int k = 0; k < 3; k++) s += p0[i]; p1[i] = s;",
    "bits of a product": "p1[i] = __uint_as_float(__float_as_uint(p0[i] * 2.0f));",
    "shuffle": "p1[i] = __shfl_xor_sync(__activemask(), p0[i] * 2.0f, 0);",
    "wider": "p1[i] = (float)(double)(p0[i] * 2.0f);",
    "choice": "p1[i] = i & 1 ? p0[i] * 2.0f : p0[i] + 1.0f;",
    "library": "p1[i] = fmodf(p0[i], 3.0f);",
    "vector": "*(float4*)&p1[i & ~3] = make_float4(p0[i] * 2.0f, p0[i] + 1.0f, "
    "-p0[i], p0[i] / 3.0f);",
    "local array": "float a[4]; a[i & 3] = p0[i] * 2.0f; p1[i] = a[i & 3];",
}


def bits(body):
    zeros = np.zeros(len(NANS), np.float32)
    _, result = launch(body, NANS.view(np.float32), zeros)
    return result.view(np.uint32)


@pytest.mark.parametrize("body", COPIES.values(), ids=COPIES)
def test_copies_keep_their_bits(body):
    np.testing.assert_array_equal(bits(body), NANS)


@pytest.mark.parametrize("body", RESULTS.values(), ids=RESULTS)
def test_arithmetic_has_one_nan(body):
    assert set(bits(body).tolist()) == {CANONICAL}
