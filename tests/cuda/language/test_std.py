"""cuda::std: containers, numbers, views."""

from __future__ import annotations

import numpy as np
import pytest
from support.launching import launcher

N = 64
INDEX = np.arange(N)

run = launcher("std.cu", block=N)


@pytest.fixture
def x(rng):
    return rng.standard_normal(N).astype(np.float32)


def test_array_tuple_optional_variant(device, x):
    got = run(device, "values", x, out=[(N, "f4")])
    wide = x.astype(np.float64)
    want = wide + wide**2 + np.where(INDEX % 2, 2, 7) + INDEX
    want += np.where(INDEX % 3, 0.5, 0)
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_complex(device, rng):
    z = (rng.standard_normal(N) + 1j * rng.standard_normal(N)).astype(np.complex64)
    got = run(device, "complexes", z, out=[(N, "c8")])
    wide = z.astype(np.complex128)
    want = np.exp(wide) * wide.conj() / (2 + 1j) + np.abs(wide)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_span_mdspan_and_algorithms(device, x):
    got = run(device, "views", x, out=[(N, "f4")])
    wide = x.astype(np.float64)
    rows = [wide[i // 2 : i // 2 + 3].sum() for i in INDEX]
    quarter, one = np.full(N, 0.25), np.full(N, -1.0)
    ordered = np.sort(np.stack([wide, wide[::-1], quarter, one]), 0)
    want = wide.reshape(8, 8)[INDEX % 8, INDEX // 8] + rows + 10 * ordered[3]
    want += 100 * np.clip(wide, 0, 0.5) + ordered[0] + N
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_bits_limits_mathematics_and_atomics(device, x):
    got = run(device, "numbers", x, out=[(N, "f8")])
    bits = x.view(np.uint32).astype(np.int64)
    wide = x.astype(np.float64)
    want = np.array([int(b).bit_count() for b in bits], np.float64)
    want += [100 * (32 - (int(b) >> 3).bit_length()) for b in bits]
    want += ((bits & 255) << 3) + 31 + np.hypot(wide, 3) + 2 * wide + 1 + (x > 0).sum()
    np.testing.assert_allclose(got, want, rtol=1e-12)
