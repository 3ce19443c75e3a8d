"""LaunchConfig: normal form and CUDA's static limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jax_rawcuda as rc


def test_missing_extents_are_one():
    config = rc.LaunchConfig(grid=4, block=(16, 16))
    assert config.grid == (4, 1, 1)
    assert config.block == (16, 16, 1)
    assert config.shared_mem_bytes == 0
    assert config.cluster is None


def test_equal_configs_are_one_value():
    a, b = rc.LaunchConfig(4, 32), rc.LaunchConfig((4, 1, 1), [np.int64(32)])
    assert a == b
    assert hash(a) == hash(b)
    assert a != rc.LaunchConfig(4, 32, cooperative=True)


def test_it_is_frozen():
    with pytest.raises(AttributeError):
        rc.LaunchConfig(1, 1).grid = (2, 1, 1)


def test_repr_shows_only_what_is_set():
    assert repr(rc.LaunchConfig(2, 32)) == (
        "LaunchConfig(grid=(2, 1, 1), block=(32, 1, 1))"
    )
    assert "cooperative=True" in repr(rc.LaunchConfig(2, 32, cooperative=True))


@given(threads=st.integers(0, 2**31), block=st.integers(1, 1024))
def test_flat_covers_every_thread(threads, block):
    config = rc.LaunchConfig.flat(threads, block)
    blocks = config.grid[0]
    assert blocks * block >= threads
    assert (blocks - 1) * block < threads
    assert config.is_empty == (threads == 0)


LIMITS = {
    "grid x": {"grid": 2**31 - 1, "block": 1},
    "grid y and z": {"grid": (1, 65535, 65535), "block": 1},
    "block x": {"grid": 1, "block": 1024},
    "block y": {"grid": 1, "block": (1, 1024)},
    "block z": {"grid": 1, "block": (16, 1, 64)},
    "shared memory": {"grid": 1, "block": 1, "shared_mem_bytes": 232448},
    "cluster": {"grid": 16, "block": 1, "cluster": 8},
}


@pytest.mark.parametrize("values", LIMITS.values(), ids=LIMITS.keys())
def test_the_limit_itself_is_legal(values):
    rc.LaunchConfig(**values)


REFUSED = {
    "threads": (
        {"grid": 1, "block": 2048},
        r"block=\(2048, 1, 1\) has 2048 threads; the limit is 1024 threads per block\.",
    ),
    "threads in a product": ({"grid": 1, "block": (32, 33)}, "has 1056 threads"),
    "block z": ({"grid": 1, "block": (1, 1, 65)}, "the limit on z is 64"),
    "empty block": ({"grid": 1, "block": (32, 0)}, "block=.* is empty"),
    "grid x": ({"grid": 2**31, "block": 1}, "the limit on x is 2147483647"),
    "grid y": ({"grid": (1, 65536), "block": 1}, "limit on y is 65535. Put the large"),
    "grid z": ({"grid": (1, 1, 65536), "block": 1}, "limit on z is 65535"),
    "negative": ({"grid": -1, "block": 1}, "grid=-1; it cannot be negative"),
    "float": ({"grid": 1.0, "block": 1}, "grid needs Python ints, got 1.0"),
    "bool": ({"grid": True, "block": 1}, "grid needs Python ints, got True"),
    "four extents": ({"grid": (1, 1, 1, 1), "block": 1}, "4 extents; it needs one to"),
    "shared memory": (
        {"grid": 1, "block": 1, "shared_mem_bytes": 232449},
        "shared_mem_bytes=232449; no device allows more than 232448 bytes",
    ),
    "large cluster": (
        {"grid": 16, "block": 1, "cluster": 16},
        "16 blocks; the portable limit is 8 blocks per cluster. Use a smaller",
    ),
    "ragged cluster": (
        {"grid": (4, 3), "block": 1, "cluster": (2, 2)},
        r"grid=\(4, 3, 1\) is not divisible by cluster=\(2, 2, 1\) on y. Round",
    ),
}


@pytest.mark.parametrize(("values", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cuda_refuses(values, text):
    with pytest.raises(rc.ValidationError, match=text):
        rc.LaunchConfig(**values)


def test_flat_refuses_an_empty_block():
    with pytest.raises(rc.ValidationError, match="block=0; it needs at least 1"):
        rc.LaunchConfig.flat(10, 0)
