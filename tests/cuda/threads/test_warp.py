"""Votes, matches, reductions, shuffles and barriers."""

from __future__ import annotations

import numpy as np
import pytest
from support.launching import launcher

BLOCK, BLOCKS = 64, 3
N = BLOCK * BLOCKS
BITS = 1 << np.arange(32, dtype=np.int64)

run = launcher("warp.cu", grid=BLOCKS, block=BLOCK)


@pytest.fixture
def x(rng):
    return rng.integers(0, 10, N).astype(np.int32)


def spread(values):
    return np.repeat(values, 32)


def test_votes(device, x):
    x[:32] = 9
    got = run(device, "votes", x, out=[(N, "i4")] * 3 + [(N, "u4")] * 2)
    warps = x.reshape(-1, 32)
    ballots = ((warps & 1) * BITS).sum(1)
    np.testing.assert_array_equal(got[0], spread((warps > 0).all(1)))
    np.testing.assert_array_equal(got[1], spread((warps == 9).any(1)))
    np.testing.assert_array_equal(got[2], spread((warps == warps[:, :1]).all(1)))
    np.testing.assert_array_equal(got[3], spread(ballots))
    np.testing.assert_array_equal(got[4], np.where(x & 1, spread(ballots), 0))


def test_matches(device, x):
    got = run(device, "matches", x, x / 3, out=[(N, "u4")] * 3 + [(N, "i4")])
    warps = x.reshape(-1, 32)
    same = ((warps[:, :, None] == warps[:, None, :]) * BITS).sum(2).ravel()
    np.testing.assert_array_equal(got[0], same)
    np.testing.assert_array_equal(got[1], same)
    np.testing.assert_array_equal(got[2], np.full(N, 2**32 - 1))
    np.testing.assert_array_equal(got[3], np.ones(N))


def test_reductions_of_odd_and_even_lanes(device, rng):
    x = rng.integers(-(2**20), 2**20, N).astype(np.int32)
    got = run(device, "reductions", x, out=[(N, "i4")] * 3 + [(N, "u4")] * 4)
    signed, unsigned = (v.reshape(-1, 16, 2) for v in (x, x.view(np.uint32)))
    wanted = [
        signed.sum(1),
        signed.min(1),
        signed.max(1),
        unsigned.max(1),
        np.bitwise_and.reduce(unsigned, 1),
        np.bitwise_or.reduce(unsigned, 1),
        np.bitwise_xor.reduce(unsigned, 1),
    ]
    for found, want in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(found, np.tile(want, (1, 16)).ravel())


def test_one_lane_is_elected(device):
    chosen, leader = run(device, "elected", out=[(N, "i4")] * 2)
    assert (chosen.reshape(-1, 32).sum(1) == 1).all()
    lanes = chosen.reshape(-1, 32).argmax(1)
    np.testing.assert_array_equal(leader, spread(lanes))


@pytest.mark.parametrize("width", [2, 8, 32])
def test_shuffles(device, rng, x, width):
    d = rng.standard_normal(N)
    got = run(
        device, "shuffles", x, d, width,
        out=[(N, "i4"), (N, "i4"), (N, "f8"), (N, "i8")],
    )  # fmt: skip
    lane = np.arange(N)
    base, within = lane // width * width, lane % width
    np.testing.assert_array_equal(got[0], x[base + (lane % BLOCK * 5 + 1) % width])
    np.testing.assert_array_equal(got[1], x[np.where(within >= 3, lane - 3, lane)])
    down = np.where(within + 2 < width, lane + 2, lane)
    np.testing.assert_array_equal(got[2], d[down])
    np.testing.assert_array_equal(got[3], x[lane ^ 1] * np.int64(5_000_000_000))


def test_named_barriers_of_producers_and_consumers(device, rng):
    x = rng.integers(0, 100, (6, 64)).astype(np.int32)
    got = run(device, "named_barriers", x, out=[(x.shape, "i4")], grid=1, block=128)
    np.testing.assert_array_equal(got, x[:, ::-1] * 2)


def test_votes_of_a_block(device, x):
    got = run(device, "block_votes", x, out=[(N, "i4")] * 4)
    rows = x.reshape(BLOCKS, BLOCK)
    np.testing.assert_array_equal(got[0], np.repeat((rows > 4).sum(1), BLOCK))
    np.testing.assert_array_equal(got[1], np.ones(N))
    np.testing.assert_array_equal(got[2], np.zeros(N))
    np.testing.assert_array_equal(got[3], spread((x.reshape(-1, 32) > 4).sum(1)))
