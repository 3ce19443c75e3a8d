"""Thread block clusters: barriers, places, shared memory of other blocks."""

from __future__ import annotations

import numpy as np
import pytest
from _coverage import launch

SIZES = [1, 2, 4, 8]


def run(device, name, *arguments, out, **config):
    results = [(n, np.dtype(d)) for n, d in out]
    return launch(device, "clusters.cu", name, *arguments, out=results, **config)


@pytest.mark.parametrize("size", SIZES)
def test_shared_memory_of_the_next_block(device, rng, size):
    x = rng.integers(0, 1000, (24, 64)).astype(np.int32)
    got = run(
        device, "rotate", x, out=[(x.shape, "i4")], grid=24, block=64, cluster=size
    )
    want = np.roll(x.reshape(-1, size, 64), -1, axis=1)
    np.testing.assert_array_equal(got, want.reshape(x.shape))


@pytest.mark.parametrize("size", SIZES)
def test_histogram_in_the_shared_memory_of_a_cluster(device, rng, size):
    n, bins = 5000, 64
    x = rng.integers(0, bins, n).astype(np.int32)
    got = run(
        device, "histogram", x, np.zeros(bins, np.int32), n, bins // size,
        out=[], in_out=("bins",), grid=16, block=96, cluster=size,
        shared_mem_bytes=4 * bins // size,
    )  # fmt: skip
    np.testing.assert_array_equal(got, np.bincount(x, minlength=bins))


def test_places_of_blocks_in_clusters(device):
    got = run(
        device, "places", out=[((4, 6, 10), "i4")], grid=(6, 4), block=32,
        cluster=(3, 2),
    )  # fmt: skip
    y, x = np.mgrid[:4, :6]
    want = [x % 3 + y % 2 * 3, 6, x % 3, y % 2, 3, 2, x // 3, 2, 1, 6 * 32]
    for index, values in enumerate(want):
        np.testing.assert_array_equal(got[..., index], values + 0 * x, err_msg=index)


@pytest.mark.parametrize("rounds", [1, 7])
def test_cluster_size_of_the_kernel_and_split_barriers(device, rng, rounds):
    x = rng.standard_normal((6, 32)).astype(np.float32)
    got = run(device, "pairs", x, rounds, out=[(x.shape, "f4")], grid=6)
    want = x.astype(np.float64).reshape(3, 2, 32)
    for _ in range(rounds):
        want = want * 0.5 + 0.25 * want[:, ::-1, ::-1]
    np.testing.assert_allclose(got, want.reshape(x.shape), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("size", SIZES)
def test_addresses_of_the_cluster_window(device, rng, size):
    x = rng.integers(0, 1000, (16, size)).astype(np.int32)
    got, rank = run(
        device, "window", x, out=[(x.shape, "i4"), (16, "i4")], grid=16, cluster=size
    )
    want = x.reshape(-1, size, size).swapaxes(1, 2)
    np.testing.assert_array_equal(got, want.reshape(x.shape))
    np.testing.assert_array_equal(rank, np.full(16, size - 1))


@pytest.mark.parametrize("size", SIZES)
def test_asynchronous_stores_and_remote_arrivals(device, rng, size):
    x = rng.integers(0, 1000, 16).astype(np.int32)
    got = run(
        device, "collect", x, out=[(16 // size, "i4")], grid=16, block=64, cluster=size
    )
    np.testing.assert_array_equal(got, x.reshape(-1, size).sum(1))


@pytest.mark.parametrize("size", SIZES)
def test_multicast_copies(device, rng, size):
    x = rng.standard_normal((16 // size, 64)).astype(np.float32)
    got = run(
        device, "multicast", x, out=[((16, 64), "f4")], grid=16, block=64, cluster=size
    )
    want = np.repeat(x, size, 0) + np.tile(np.arange(size), 16 // size)[:, None]
    np.testing.assert_allclose(got, want, rtol=1e-6)
