"""Thread block clusters: barriers, places, shared memory of other blocks."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from support.launching import launch, launcher

SIZES = [1, 2, 4, 8]

run = launcher("clusters.cu")


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


def test_indices_in_grids_of_clusters(device):
    got = run(
        device, "indices", out=[((4, 6, 10), "i4")], grid=(6, 4), block=32,
        cluster=(3, 2),
    )  # fmt: skip
    y, x = np.mgrid[:4, :6]
    want = [y // 2 * 2 + x // 3, 4, y // 2, 2, 32 * x + 5, 32 * (x % 3) + 5, y % 2]
    want += [96, 2, 41]
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
def test_asynchronous_reductions(device, rng, size):
    x = rng.integers(-1000, 1000, (16, 64)).astype(np.int32)
    n = 16 // size
    total, most = run(
        device, "reduce_remotely", x, out=[(n, "i4")] * 2, grid=16, block=64,
        cluster=size,
    )  # fmt: skip
    np.testing.assert_array_equal(total, x.reshape(n, -1).sum(1))
    np.testing.assert_array_equal(most, x.reshape(n, -1).max(1))


@pytest.mark.parametrize("size", SIZES)
def test_multicast_copies(device, rng, size):
    x = rng.standard_normal((16 // size, 64)).astype(np.float32)
    got = run(
        device, "multicast", x, out=[((16, 64), "f4")], grid=16, block=64, cluster=size
    )
    want = np.repeat(x, size, 0) + np.tile(np.arange(size), 16 // size)[:, None]
    np.testing.assert_allclose(got, want, rtol=1e-6)


PAIR = """#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2, 1, 1) pair(int* out) {
  out[blockIdx.x] = cooperative_groups::this_cluster().block_rank();
}"""


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (
            {"grid": 4, "cluster": 4},
            "pair: cluster=(4,1,1) is not the kernel's __cluster_dims__ (2,1,1). "
            "Leave cluster out.",
        ),
        (
            {"grid": 3},
            "pair: grid=(3,1,1) is not divisible by the kernel's __cluster_dims__ "
            "(2,1,1). Round the grid up to whole clusters.",
        ),
    ],
)
def test_clusters_that_do_not_fit_the_kernel(config, text):
    with pytest.raises(jax.errors.JaxRuntimeError) as caught:
        launch(jax.devices("cpu")[0], PAIR, "pair", out=[(4, np.int32)], **config)
    assert text in str(caught.value)


def fault(body, **config):
    source = f"""#include <cooperative_groups.h>
    extern "C" __global__ void k(int* out) {{
      __shared__ int own;
      auto cluster = cooperative_groups::this_cluster();
      {body}
    }}"""
    with pytest.raises(jax.errors.JaxRuntimeError) as caught:
        launch(jax.devices("cpu")[0], source, "k", out=[(4, np.int32)], **config)
    return str(caught.value)


def test_blocks_that_a_cluster_does_not_have():
    text = fault("*out = *cluster.map_shared_rank(&own, 5);", grid=2, cluster=2)
    assert "shared memory of block 5 of a cluster used in thread (0,0,0), " in text
    assert "; the cluster has 2 blocks." in text


def test_blocks_that_never_arrive():
    body = """if (blockIdx.x == 0) asm volatile("barrier.sync 1, 64;" ::: "memory");
      cluster.sync(); *out = own;"""
    text = fault(body, grid=2, cluster=2)
    assert "deadlock in block (0,0,0): no thread can continue. 32 threads" in text
