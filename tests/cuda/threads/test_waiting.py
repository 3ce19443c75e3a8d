"""Flags, hand-made barriers and look-back between blocks; divergence inside of one."""

from __future__ import annotations

import numpy as np
import pytest
from support.launching import launcher

run = launcher("waiting.cu")


@pytest.mark.parametrize("block", [64, 256])
def test_a_flag_in_shared_memory(device, rng, block):
    x = rng.integers(1, 1000, 5).astype(np.int32)
    got = run(
        device, "flag_of_a_block", x, out=[((5, block - 32), np.int32)],
        grid=5, block=block,
    )  # fmt: skip
    np.testing.assert_array_equal(got, np.repeat(x[:, None], block - 32, 1))


@pytest.mark.parametrize("blocks", [1, 2, 100, 250])
def test_blocks_that_wait_for_their_successors(device, rng, blocks):
    x = rng.integers(-1000, 1000, blocks).astype(np.int32)
    zeros = np.zeros(blocks, np.int32)
    _, sums = run(
        device, "chain", x, zeros, zeros, in_out=("flags", "sums"), grid=blocks,
        cooperative=True,
    )  # fmt: skip
    np.testing.assert_array_equal(sums, np.cumsum(x[::-1])[::-1])


@pytest.mark.parametrize("blocks", [1, 40, 120])
def test_a_barrier_of_all_blocks(device, rng, blocks):
    count = 7
    x = rng.standard_normal(blocks).astype(np.float32)
    arrived, values = run(
        device, "rounds", np.zeros(1, np.int32), np.concatenate([x, x]), count,
        in_out=("arrived", "values"), grid=blocks, block=64, cooperative=True,
    )  # fmt: skip
    want = x.astype(np.float64)
    for _ in range(count):
        want = 0.5 * (want + np.roll(want, -1))
    assert arrived[0] == count * blocks
    np.testing.assert_allclose(values[blocks:], want, rtol=1e-5, atol=1e-6)


def test_whole_blocks_that_poll(device):
    _, got = run(
        device, "blocks_poll", np.zeros(1, np.int32), np.zeros((6, 64), np.int32),
        in_out=("flag", "y"), grid=6, block=64, cooperative=True,
    )  # fmt: skip
    want = np.full((6, 64), 4711)
    want[-1] = 0
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("n", [1, 64, 1000, 50_000])
def test_prefix_sums_in_one_pass(device, rng, n):
    x = rng.integers(0, 2**32, n, dtype=np.uint32)
    blocks = -(-n // 64)
    _, _, got = run(
        device, "look_back", x, np.zeros(1, np.uint32), np.zeros(blocks, np.uint64), n,
        in_out=("ticket", "states"), out=[(n, np.uint32)], grid=blocks, block=64,
    )  # fmt: skip
    np.testing.assert_array_equal(got, np.cumsum(x, dtype=np.uint32))


@pytest.mark.parametrize("living", [1, 100, 129, 256])
def test_threads_that_have_returned(device, living):
    got = run(
        device, "early_exits", np.full((3, 256), -1, np.int32), living,
        in_out=("y",), grid=3, block=256,
    )  # fmt: skip
    want = np.full(256, -1)
    want[:living] = (np.arange(living) + 20) % living
    np.testing.assert_array_equal(got, np.tile(want, (3, 1)))


def test_parts_of_a_warp(device):
    values, active = run(
        device, "parted", out=[(64, np.int32), (64, np.uint32)], block=64
    )
    threads = np.arange(64)
    quarter = threads % 32 // 8
    want = threads.copy()
    for i in range(4):
        moved = want + want[threads ^ (1 << i % 3)]
        want = np.where(i <= quarter, moved, want)
    np.testing.assert_array_equal(values, want)
    # Which threads run together is open, but not which threads are in the branch.
    lane = np.uint32(1) << (threads % 32).astype(np.uint32)
    inside = quarter >= 2
    assert (active[~inside] == 0).all()
    assert ((active & lane) == lane)[inside].all()
    assert ((active & 0xFFFF) == 0).all()
