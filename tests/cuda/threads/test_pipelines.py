"""Asynchronous copies, mbarriers, cuda::pipeline, cuda::barrier, cuda::atomic_ref."""

from __future__ import annotations

import numpy as np
import pytest
from support.launching import launcher

run = launcher("pipelines.cu")


@pytest.mark.parametrize("tiles", [1, 2, 9])
def test_pipeline_primitives(device, rng, tiles):
    x = rng.standard_normal((tiles, 64, 4)).astype(np.float32)
    got = run(device, "primitives", x, tiles, out=[(64, "f4")], block=64)
    want = x.astype(np.float64).sum((0, 2))[::-1]
    np.testing.assert_allclose(got, want, atol=1e-5)


@pytest.mark.parametrize("n", [128, 101, 36])
def test_copies_that_fill_with_zeros(device, rng, n):
    x = rng.standard_normal(n).astype(np.float32)
    got = run(device, "zero_fill", x, n, out=[((32, 4), "f4")])
    want = np.zeros((32, 4))
    for i in range(32):
        valid = min(max(n - 4 * i, 0), 4)
        want[i, :valid] = x[4 * i : 4 * i + valid]
    want[:, 2] += x[0]
    want[:, 3] += x[3]
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["pipeline", "barrier"])
@pytest.mark.parametrize("tiles", [1, 5])
def test_classes_of_libcudacxx(device, rng, name, tiles):
    x = rng.integers(0, 100, (tiles, 64)).astype(np.int32)
    got = run(device, name, x, tiles, out=[(64, "i4")], block=64)
    np.testing.assert_array_equal(got, (np.arange(1, tiles + 1) @ x)[::-1])


@pytest.mark.parametrize("rows", [1, 4])
def test_bulk_copies(device, rng, rows):
    x = rng.standard_normal((rows, 256)).astype(np.float32)
    got = run(device, "bulk", x, rows, out=[(x.shape, "f4")], block=256)
    np.testing.assert_array_equal(
        got, x[:, ::-1] + np.arange(rows, dtype=np.float32)[:, None]
    )


def test_atomic_references(device, rng):
    x = rng.integers(-50, 50, 256).astype(np.int32)
    zeros = [np.zeros(1, d) for d in (np.int32, np.int32, np.uint32, np.float64)]
    total, most, turns, halves, last, flag = run(
        device, "atomics", x, *zeros, np.zeros(1, np.int32), np.zeros(1, np.int32),
        out=[], in_out=("sum", "most", "turns", "total", "last", "flag"),
        grid=4, block=64,
    )  # fmt: skip
    assert (total[0], most[0], turns[0]) == (x.sum(), max(x.max(), 0), 512)
    assert (halves[0], last[0], flag[0]) == (x.sum() / 2, 4711, 1)
