"""Cooperative groups: tiles, coalesced threads, partitions, collectives, grids."""

from __future__ import annotations

import numpy as np
import pytest
from support.launching import launcher

BLOCK, BLOCKS = 128, 3
N = BLOCK * BLOCKS

run = launcher("groups.cu", grid=BLOCKS, block=BLOCK)


@pytest.fixture
def x(rng):
    return rng.integers(0, 10, N).astype(np.int32)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16, 32])
def test_tiles_of_every_size(device, x, size):
    sums, places = run(device, "tile_sum", x, out=[(N, "i4")] * 2, template=(size,))
    want = np.repeat(x.reshape(-1, size).sum(1), size)
    np.testing.assert_array_equal(sums, want)
    rank = np.arange(N) % BLOCK
    want = rank // size * 10000 + BLOCK // size * 100 + rank % size
    np.testing.assert_array_equal(places, want)


def test_votes_and_shuffles_of_a_tile_in_a_tile(device, x):
    x %= 4
    found = run(
        device, "nested_tiles", x,
        out=[(N, d) for d in ("i4", "i4", "u4", "u4", "i4", "i4")],
    )  # fmt: skip
    tiles = x.reshape(-1, 8)
    lanes = np.arange(8)
    bits = 1 << lanes

    def spread(values):
        return np.repeat(values, 8)

    np.testing.assert_array_equal(found[0], spread((tiles == 3).any(1)))
    np.testing.assert_array_equal(found[1], spread((tiles > 0).all(1)))
    np.testing.assert_array_equal(found[2], spread(((tiles & 1) * bits).sum(1)))
    same = (tiles[:, :, None] == tiles[:, None, :]) * bits
    np.testing.assert_array_equal(found[3], same.sum(2).ravel())
    np.testing.assert_array_equal(found[4], tiles[:, np.maximum(lanes - 1, 0)].ravel())
    down = np.where(lanes + 3 < 8, lanes + 3, lanes)
    np.testing.assert_array_equal(found[5], tiles[:, down].ravel())


def test_coalesced_threads_share_an_atomic(device, x):
    count, found = run(
        device, "append_odd", x, np.zeros(1, np.int32), np.full(N, -1, np.int32),
        out=[], in_out=("count", "found"),
    )  # fmt: skip
    odd = np.sort(x[x % 2 == 1])
    assert count[0] == odd.size
    np.testing.assert_array_equal(np.sort(found[: odd.size]), odd)
    assert (found[odd.size :] == -1).all()


def test_labelled_and_binary_partitions(device, x):
    labelled, binary = run(device, "partitions", x, out=[(N, "i4")] * 2)
    warps = x.reshape(-1, 32)
    label = warps % 3
    want = [
        [w[k == k[i]].sum() for i in range(32)]
        for w, k in zip(warps, label, strict=True)
    ]
    np.testing.assert_array_equal(labelled, np.ravel(want))
    above = warps > 4
    want = [
        [(a == a[i]).sum() * 100 + (a[:i] == a[i]).sum() for i in range(32)]
        for a in above
    ]
    np.testing.assert_array_equal(binary, np.ravel(want))


def numbered(keys):
    """Size, number of parts and own part of each place, parts by their first place."""
    ranks = {key: rank for rank, key in enumerate(dict.fromkeys(keys))}
    sizes = {key: list(keys).count(key) for key in ranks}
    return [sizes[k] * 10000 + len(ranks) * 100 + ranks[k] for k in keys]


def halves(flags):
    """The same of the parts that a predicate makes: `false` is first, if both exist."""
    both = len(set(flags)) > 1
    return [
        list(flags).count(f) * 10000 + (1 + both) * 100 + (both and f) for f in flags
    ]


def test_parts_are_numbered(device, x):
    x[:64] = 1  # whole tiles of one part
    labelled, binary, of_some = run(
        device, "numbered_parts", x, out=[(N, "i4"), (N, "i4"), (N, "i8")]
    )
    tiles = x.reshape(-1, 8)
    np.testing.assert_array_equal(labelled, np.ravel([numbered(t % 3) for t in tiles]))
    np.testing.assert_array_equal(binary, np.ravel([halves(t > 2) for t in tiles]))
    places = np.arange(N)
    for begin in range(0, N, 32):
        some = places[begin : begin + 32]
        some = some[some % 3 != 0]
        want = np.int64(numbered(x[some] % 4))
        for label in range(4):
            part = some[x[some] % 4 == label]
            want[x[some] % 4 == label] += 1000000 * np.int64(halves(x[part] > 5))
        np.testing.assert_array_equal(of_some[some], want)
    assert (of_some[::3] == -1).all()


def test_handles_and_functions_of_one_thread(device):
    alone, tile, some, whole, totals, first = run(
        device, "handles", np.zeros(2, np.int32), np.zeros(N, np.int32),
        out=[(N, "i4")] * 4, in_out=("totals", "first"),
    )  # fmt: skip
    i = np.arange(N)
    assert (alone == 1000).all()
    np.testing.assert_array_equal(tile, 8000 + i % 8)
    np.testing.assert_array_equal(some, np.where(i % 4, 0, 8000 + i % 32 // 4))
    np.testing.assert_array_equal(whole, BLOCK * 1000 + i % BLOCK)
    np.testing.assert_array_equal(totals, [2 * BLOCKS, 3 * N // 32])
    first = first.reshape(-1, 32)
    np.testing.assert_array_equal(first, np.repeat(first[:, :1], 32, 1))
    np.testing.assert_array_equal(np.sort(first[:, 0]), np.arange(N // 32) * 3)


def test_reductions_of_a_tile(device, rng):
    x = rng.integers(-(2**20), 2**20, N).astype(np.int32)
    found = run(device, "reductions", x, out=[(N, "i4")] * 5)
    tiles = x.reshape(-1, 16)
    operations = (np.add, np.minimum, np.maximum, np.bitwise_and, np.bitwise_xor)
    for got, operation in zip(found, operations, strict=True):
        want = np.repeat(operation.reduce(tiles, 1), 16)
        np.testing.assert_array_equal(got, want, err_msg=operation.__name__)


def test_reductions_of_floating_point_numbers(device, rng):
    x = rng.uniform(0.5, 1.5, N).astype(np.float32)
    total, product = run(device, "reduce_floats", x, out=[(N, "f4"), (N, "f8")])
    warps = x.astype(np.float64).reshape(-1, 32)
    np.testing.assert_allclose(total, np.repeat(warps.sum(1), 32), rtol=1e-5)
    np.testing.assert_allclose(product, np.repeat(warps.prod(1), 32), rtol=1e-13)


def test_scans_of_a_tile(device, x):
    inclusive, exclusive, most = run(device, "scans", x, out=[(N, "i4")] * 3)
    warps = x.reshape(-1, 32)
    np.testing.assert_array_equal(inclusive, np.cumsum(warps, 1).ravel())
    np.testing.assert_array_equal(exclusive, (np.cumsum(warps, 1) - warps).ravel())
    np.testing.assert_array_equal(most, np.maximum.accumulate(warps, 1).ravel())


def test_results_that_groups_hand_on(device, x):
    total, most, ranks, claimed, inclusive, exclusive = run(
        device, "handed_on", x, np.zeros(3, np.int32), np.zeros(1 + N // 32, np.int32),
        np.zeros(N, np.int32), np.zeros(1, np.int32), out=[(N, "i4")] * 2,
        in_out=("total", "most", "ranks", "claimed"),
    )  # fmt: skip
    warps = x.reshape(-1, 32)
    np.testing.assert_array_equal(total, [x.sum()] * 3)
    np.testing.assert_array_equal(most, [x.max(), *warps.max(1)])
    assert claimed[0] == len(warps)
    ranks = ranks.reshape(-1, 32)
    np.testing.assert_array_equal(ranks, np.repeat(ranks[:, :1], 32, 1))
    np.testing.assert_array_equal(np.sort(ranks[:, 0]), np.arange(len(warps)))
    for found, own in ((inclusive, 0), (exclusive, warps)):
        before = found.reshape(-1, 32) - np.cumsum(warps, 1) + own
        np.testing.assert_array_equal(before, np.repeat(before[:, :1], 32, 1))
        # One after the other, in some order.
        order = np.argsort(before[:, 0] + warps.sum(1), kind="stable")
        sums = np.cumsum(warps.sum(1)[order])
        np.testing.assert_array_equal(before[order, 0], np.append(0, sums[:-1]))


@pytest.mark.parametrize("n", [1, 33, 100])
def test_memcpy_async_of_a_block(device, rng, n):
    x = rng.standard_normal((BLOCKS, n, 4)).astype(np.float32)
    got = run(
        device, "copied_rows", x, n, out=[(x.shape, "f4")], shared_mem_bytes=16 * n
    )
    np.testing.assert_array_equal(got, x[:, ::-1])


def test_arriving_at_a_block_barrier_and_waiting_later(device, x):
    got = run(device, "split_barrier", x, out=[(N, "i4")])
    rows = x.reshape(BLOCKS, BLOCK)
    np.testing.assert_array_equal(got, (rows * 1000 + rows[:, ::-1]).ravel())


@pytest.mark.parametrize("width", [2, 8, 32])
def test_groups_of_a_size_known_at_run_time(device, x, width):
    got = run(device, "dynamic_group", x, width, out=[(2 * BLOCKS, "i4")])
    rows = x.reshape(BLOCKS, BLOCK)
    want = np.stack([rows.sum(1), rows[:, :width].sum(1)], 1)
    np.testing.assert_array_equal(got, want.ravel())


def test_grid_sync_of_a_cooperative_launch(device, rng):
    x = rng.uniform(0.5, 1.5, N).astype(np.float32)
    partial, y = run(
        device, "grid_normalise", x, out=[(BLOCKS, "f4"), (N, "f4")], cooperative=True
    )
    total = x.astype(np.float64).sum()
    np.testing.assert_allclose(partial, np.full(BLOCKS, total), rtol=1e-5)
    np.testing.assert_allclose(y, x / total, rtol=1e-5)
