"""Atomic functions of every type, locks, the last block."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.launching import launcher

BLOCKS, BLOCK = 4, 64
N = BLOCKS * BLOCK

run = launcher("atomics.cu", grid=BLOCKS, block=BLOCK)


@pytest.fixture
def x(rng):
    return rng.integers(-3, 4, N).astype(np.int32)


def test_sums_of_floating_point_types(device, x):
    half, bfloat = np.float16, ml_dtypes.bfloat16
    types = [(1, half), (1, bfloat), (2, half), (2, bfloat), (2, np.float32)]
    types += [(4, np.float32), (1, np.float64)]
    x[::2] = -x[1::2]  # the running sums stay small: bfloat16 holds them
    x[0] += 2
    got = run(
        device, "sums", x, *(np.zeros(n, t) for n, t in types),
        in_out=("h", "b", "h2", "b2", "f2", "f4", "d"),
    )  # fmt: skip
    s = int(x.sum())
    wanted = [[s], [s], [s, N], [s, -s], [s, N], [s, N, 2 * N, -s], [s / 2]]
    for found, want in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(found.astype(np.float64), want)


def test_vectors(device, rng):
    x = rng.integers(-8, 9, 64).astype(np.float32)
    got = run(device, "vectors", x, np.zeros(6, np.float32), in_out=("y",), grid=1)
    np.testing.assert_array_equal(got[:4], np.array([1, -1, 1, -1]) * x.sum())
    np.testing.assert_array_equal(got[4:].view(np.float16), np.full(4, 64))


def test_integers(device, rng):
    x = rng.integers(-1000, 1000, N).astype(np.int32)
    r, u, wide, short = run(
        device, "integers", x, np.zeros(5, np.int32),
        np.array([2**32 - 1, 0, 0, 0, 0], np.uint32), np.zeros(2, np.int64),
        np.zeros(1, np.uint16), in_out=("r", "u", "l", "s"),
    )  # fmt: skip
    bits = x.view(np.uint32)
    np.testing.assert_array_equal(
        r, [x.sum(), -x.sum(), min(x.min(), 0), max(x.max(), 0), 4711]
    )
    assert u[0] == np.bitwise_and.reduce(bits | 0xFF00)
    assert u[1] == np.bitwise_or.reduce(np.uint32(1) << (bits & 31))
    assert u[2] == np.bitwise_xor.reduce(bits)
    assert (u[3], u[4]) == (N % 8, -N % 10)
    assert (wide[0], wide[1]) == (int(x.sum()) << 33, max(int(x.max()), 0) << 33)
    assert short[0] == N


def test_a_lock_that_all_threads_want(device):
    mutex, counter = run(
        device, "lock", np.zeros(1, np.int32), np.zeros(1, np.int32),
        in_out=("mutex", "counter"),
    )  # fmt: skip
    assert (mutex[0], counter[0]) == (0, N)


@pytest.mark.parametrize("blocks", [1, 7, 100])
def test_the_last_block_finishes_the_sum(device, rng, blocks):
    x = rng.integers(-1000, 1000, 32 * blocks).astype(np.int32)
    partial, total = run(
        device, "last_block", x,
        out=[(blocks, np.int32), (1, np.int32)], grid=blocks, block=32,
    )  # fmt: skip
    np.testing.assert_array_equal(partial, x.reshape(blocks, 32).sum(1))
    assert total[0] == x.sum()
