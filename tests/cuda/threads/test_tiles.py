"""Cooperative groups of several warps: barriers, reductions, scans, tiles of tiles."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from support.launching import launch

BLOCKS = 2
CASES = [(64, 64), (64, 1024), (128, 512), (256, 256), (512, 1024), (1024, 1024)]


def run(device, name, *arguments, out, block, **config):
    n = BLOCKS * block
    return launch(
        device, "wide_tiles.cu", name, *arguments, out=[(n, np.dtype(d)) for d in out],
        grid=BLOCKS, block=block, **config,
    )  # fmt: skip


def integers(rng, block):
    return rng.integers(0, 10, BLOCKS * block).astype(np.int32)


@pytest.mark.parametrize(("size", "block"), CASES)
def test_places_and_barriers(device, rng, size, block):
    x = integers(rng, block)
    place, mirrored = run(
        device, "places", x, out=["i4"] * 2, block=block, template=(size,)
    )
    rank = np.arange(x.size) % block
    want = rank // size * 1000000 + block // size * 10000 + rank % size
    np.testing.assert_array_equal(place, want)
    tiles = x.reshape(-1, size)
    turns = np.arange(len(tiles)) % (block // size) + 1
    want = np.where((turns % 2)[:, None], tiles[:, ::-1], tiles)
    want = want + (turns * (turns - 1) // 2)[:, None]
    np.testing.assert_array_equal(mirrored, want.ravel())


@pytest.mark.parametrize(("size", "block"), CASES)
def test_collectives(device, rng, size, block):
    x = integers(rng, block)
    x[:size] = 1
    found = run(device, "collectives", x, out=["i4"] * 6, block=block, template=(size,))
    tiles = x.reshape(-1, size)
    scanned = np.cumsum(tiles, 1)
    rank = np.arange(len(tiles)) % (block // size)
    votes = (tiles == 9).any(1) * 10 + (tiles > 0).all(1)
    wanted = {
        "sum": np.repeat(tiles.sum(1), size),
        "least": np.repeat(tiles.min(1), size),
        "inclusive": scanned.ravel(),
        "exclusive": (scanned - tiles).ravel(),
        "from": np.repeat(tiles[np.arange(len(tiles)), (rank + 40) % size], size),
        "votes": np.repeat(votes, size),
    }
    for got, (name, want) in zip(found, wanted.items(), strict=True):
        np.testing.assert_array_equal(got, want, err_msg=name)


def test_reductions_of_floating_point_numbers(device, rng):
    x = rng.uniform(0.5, 1.5, BLOCKS * 192).astype(np.float32)
    total, product = run(device, "reduce_floats", x, out=["f4", "f8"], block=192)
    tiles = x.astype(np.float64).reshape(-1, 64)
    np.testing.assert_allclose(total, np.repeat(tiles.sum(1), 64), rtol=1e-5)
    np.testing.assert_allclose(product, np.repeat(tiles.prod(1), 64), rtol=1e-12)


def test_tiles_of_tiles(device, rng):
    x = integers(rng, 512)
    sums, places = run(device, "nested", x, out=["i4"] * 2, block=512)

    def spread(size):
        return np.repeat(x.reshape(-1, size).sum(1), size)

    rank = np.arange(x.size) % 512
    want = spread(32) + spread(256) + np.where(rank < 256, spread(64), 0)
    np.testing.assert_array_equal(sums, want)
    want = rank % 256 // 64 * 1000 + 4 * 100 + rank % 64 // 32 * 10 + 2
    want += rank % 32 // 4 * 10000 + 8 * 100000
    np.testing.assert_array_equal(places, want)


def test_memcpy_async_of_a_tile(device, rng):
    x = rng.integers(0, 1000, (BLOCKS * 4, 128)).astype(np.int32)
    got, first = launch(
        device, "wide_tiles.cu", "copied_rows", x,
        out=[(x.shape, np.int32), (len(x), np.int32)], grid=BLOCKS, block=512,
    )  # fmt: skip
    np.testing.assert_array_equal(got, x[:, ::-1])
    np.testing.assert_array_equal(first, x[:, 0])


def test_sizes_at_run_time_that_no_warp_has():
    source = """#include <cooperative_groups.h>
    extern "C" __global__ void k(const int* size, int* y) {
      namespace cg = cooperative_groups;
      cg::thread_group tile = cg::tiled_partition(cg::this_thread_block(), *size);
      y[0] = tile.size();
    }"""
    for size in (0, 3, 64):
        with pytest.raises(jax.errors.JaxRuntimeError, match=r"k: .*trap in thread"):
            launch(
                jax.devices("cpu")[0], source, "k", np.int32([size]),
                out=[(1, np.int32)],
            )  # fmt: skip
