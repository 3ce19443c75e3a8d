"""CUB's block and warp primitives."""

from __future__ import annotations

import numpy as np
import pytest
from support.launching import launcher

THREADS, ITEMS, BLOCKS = 128, 4, 3
TILE = THREADS * ITEMS
N = BLOCKS * TILE

block = launcher("cub_block.cu", grid=BLOCKS, block=THREADS)
warp = launcher("cub_warp.cu", grid=BLOCKS, block=THREADS)


def tiles(x):
    return x.reshape(BLOCKS, TILE)


@pytest.fixture
def x(rng):
    return rng.integers(-50, 50, N).astype(np.int32)


def test_block_reduce(device, rng):
    x = rng.standard_normal(N).astype(np.float32)
    total, most = block(device, "reduce", x, out=[(BLOCKS, "f4")] * 2)
    want = tiles(x).astype(np.float64).sum(1)
    np.testing.assert_allclose(total, want, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(most, tiles(x).max(1))


def test_block_scan(device, x):
    inclusive, exclusive, total = block(
        device, "scan", x, out=[(N, "i4"), (N, "i4"), (BLOCKS, "i4")]
    )
    want = np.cumsum(tiles(x), 1)
    np.testing.assert_array_equal(inclusive, want.ravel())
    np.testing.assert_array_equal(exclusive, (want - tiles(x)).ravel())
    np.testing.assert_array_equal(total, want[:, -1])


@pytest.mark.parametrize("algorithm", ["direct", "vectorize", "transpose", "striped"])
def test_block_load_and_store(device, x, algorithm):
    n = N - 77
    got = block(
        device, f"copy_{algorithm}", x, np.zeros(N, np.int32), n,
        out=[], in_out=("arg1",),  # a macro hides the name
    )  # fmt: skip
    place = np.arange(N) % TILE
    item = place // THREADS if algorithm == "striped" else place % ITEMS
    want = np.where(np.arange(N) < n, x * 10 + item, 0)
    np.testing.assert_array_equal(got, want)


def test_block_radix_sort(device, rng):
    keys = rng.standard_normal(N).astype(np.float32)
    values = np.arange(N, dtype=np.int32)
    sorted_keys, sorted_values, descending = block(
        device, "radix_sort", keys, values, out=[(N, "f4"), (N, "i4"), (N, "f4")]
    )
    order = np.argsort(tiles(keys), 1, kind="stable")
    want = np.take_along_axis(tiles(keys), order, 1)
    np.testing.assert_array_equal(sorted_keys, want.ravel())
    want_values = np.take_along_axis(tiles(values), order, 1)
    np.testing.assert_array_equal(sorted_values, want_values.ravel())
    np.testing.assert_array_equal(descending, want[:, ::-1].ravel())


def test_block_merge_sort(device, x):
    got = block(device, "merge_sort", x, out=[(N, "i4")])
    np.testing.assert_array_equal(got, np.sort(tiles(x), 1).ravel())


@pytest.mark.parametrize("algorithm", ["sort", "atomic"])
def test_block_histogram(device, rng, algorithm):
    x = rng.integers(0, 256, N).astype(np.uint8)
    got = block(
        device, f"histogram_{algorithm}", x, out=[((BLOCKS, 256), "u4")],
    )  # fmt: skip
    want = [np.bincount(tile, minlength=256) for tile in tiles(x)]
    np.testing.assert_array_equal(got, want)


def test_block_exchange(device, rng, x):
    ranks = np.stack([rng.permutation(TILE) for _ in range(BLOCKS)]).astype(np.int32)
    striped, scattered = block(
        device, "exchange", x, ranks.ravel(), out=[(N, "i4")] * 2
    )
    want = tiles(x).reshape(BLOCKS, ITEMS, THREADS).swapaxes(1, 2)
    np.testing.assert_array_equal(striped, want.ravel())
    want = np.empty_like(tiles(x))
    np.put_along_axis(want, ranks, tiles(x), 1)
    np.testing.assert_array_equal(scattered, want.ravel())


def test_block_discontinuity_difference_and_shuffle(device, rng):
    x = rng.integers(0, 3, N).astype(np.int32)
    heads, tails, steps, following = block(
        device, "neighbours", x, out=[(N, "i4")] * 3 + [(BLOCKS * THREADS, "i4")]
    )
    edge = np.ones((BLOCKS, 1), bool)
    change = tiles(x)[:, 1:] != tiles(x)[:, :-1]
    np.testing.assert_array_equal(heads, np.hstack([edge, change]).ravel())
    np.testing.assert_array_equal(tails, np.hstack([change, edge]).ravel())
    want = np.diff(tiles(x), axis=1, prepend=0)
    np.testing.assert_array_equal(steps, want.ravel())
    first = tiles(x)[:, ::ITEMS]
    want = np.hstack([first[:, 1:], -np.ones((BLOCKS, 1), np.int32)])
    np.testing.assert_array_equal(following, want.ravel())


WIDTHS = [32, 16, 8]
M = BLOCKS * THREADS


@pytest.mark.parametrize("width", WIDTHS)
def test_warp_reduce(device, rng, width):
    x = rng.integers(-50, 50, M).astype(np.int32)
    valid = width - 3
    total, most, partial = warp(
        device, f"reduce_{width}", x, valid, out=[(M // width, "i4")] * 3
    )
    rows = x.reshape(-1, width)
    np.testing.assert_array_equal(total, rows.sum(1))
    np.testing.assert_array_equal(most, rows.max(1))
    np.testing.assert_array_equal(partial, rows[:, :valid].sum(1))


@pytest.mark.parametrize("width", WIDTHS)
def test_warp_scan(device, rng, width):
    x = rng.standard_normal(M)
    inclusive, exclusive, offset = warp(device, f"scan_{width}", x, out=[(M, "f8")] * 3)
    rows = x.reshape(-1, width)
    want = np.cumsum(rows, 1)
    np.testing.assert_allclose(inclusive, want.ravel(), atol=1e-13)
    np.testing.assert_allclose(exclusive, (want - rows).ravel(), atol=1e-13)
    np.testing.assert_array_equal(offset, (rows - rows[:, :1]).ravel())


@pytest.mark.parametrize("width", WIDTHS)
def test_warp_merge_sort(device, rng, width):
    x = rng.integers(-1000, 1000, 4 * M).astype(np.int32)
    got = warp(device, f"merge_sort_{width}", x, out=[(4 * M, "i4")])
    np.testing.assert_array_equal(got, np.sort(x.reshape(-1, 4 * width), 1).ravel())
