"""Kernels that one macro makes wrong: a report for these, none for the others."""

from __future__ import annotations

import functools

import jax
import numpy as np
import pytest
from support.planted import OUT, Bug, check, f32, i32, launch

import jax_rawcuda as rc

idiom = functools.partial(Bug, "idioms.cu")
RACE = ("data race", "not ordered")
UNWRITTEN = ("that nothing has written",)
ENDED = ("divergent __syncthreads", "has gone past it and ended")
X = f32(64)
ONE_BLOCK = launch("64 -> 64", 1, 64)
ONE_WARP = launch("32 -> 32", 1, 32)
LOCKED = {
    "args": (i32(*range(1, 9)), i32(0), i32(0)),
    "contract": launch("8, 1, 1", 8, 32, in_out=("lock", "total")),
}
CLUSTERS = launch("64 -> 64", 2, 32, config={"cluster": 2})
OFFSETS = i32(*range(33))
BINS = i32(*range(-4, 8), *[3] * 20)
CASES = [
    idiom("inclusive_scan", (X,), ("shared memory 's'", OUT), ONE_BLOCK),
    idiom(
        "bitonic_partner",
        (f32(48),),
        ("shared memory 's' (192 bytes)", OUT, "thread (16,0,0)"),
        launch("48 -> 48", 1, 48),
    ),
    idiom(
        "ragged_sums",
        (OFFSETS, f32(32)),
        ("argument 'offset' (int32[33])", OUT, "element 33"),
        launch("rows, 32 -> 32", 1, 64),
    ),
    idiom(
        "negative_bin",
        (BINS,),
        ("shared memory 'bins' (32 bytes)", OUT, "element -4"),
        launch("32 -> 8", 1, 32),
    ),
    idiom("async_shift", (f32(32),), ("shared memory 's'", OUT), ONE_WARP),
    idiom(
        "double_buffer",
        (f32(3, 32),),
        ("shared memory 's'", *UNWRITTEN),
        launch("n 32 -> 32", 1, 32),
    ),
    idiom("ragged_reduce", (f32(40),), UNWRITTEN, launch("n -> 1", 1, 64)),
    idiom("ping_pong", (X, 3), ("shared memory 'a'", *RACE), ONE_BLOCK),
    idiom("rotate", (X,), ("shared memory 's'", *RACE), ONE_BLOCK),
    idiom(
        "shared_scratch",
        (X, np.zeros(64, np.float32)),
        ("argument 'scratch'", *RACE, "block (1,0,0)"),
        launch("64, 64 -> 64", 2, 32, in_out="scratch"),
    ),
    idiom(
        "dot",
        (X, np.zeros(1, np.float32)),
        ("argument 'y'", *RACE),
        launch("64, 1", 2, 32, in_out="y"),
    ),
    idiom("unfenced_lock", says=("argument 'total'", *RACE), **LOCKED),
    idiom("plain_unlock", says=("argument 'lock'", *RACE), **LOCKED),
    idiom("partial_mask", (f32(32),), ("shared memory 's'", *RACE), ONE_WARP),
    idiom("volatile_flag", (X,), ("'value'", *RACE), launch("64 -> 1", 1, 64)),
    idiom("cluster_reuse", (X,), ("shared memory 's'", *RACE), CLUSTERS),
    idiom("continue_early", (10 * X, 3), ENDED, ONE_BLOCK),
    idiom("until_stable", (X,), ENDED, ONE_BLOCK),
    idiom("short_circuit", (X, 40), ENDED, ONE_BLOCK),
    idiom(
        "lone_cluster_sync",
        (X,),
        ("divergent cluster barrier", *ENDED[1:], "block (1,0,0)"),
        CLUSTERS,
    ),
    idiom("called_by_few", (X,), ENDED, ONE_BLOCK),
]


@pytest.mark.parametrize("bug", CASES, ids=lambda bug: bug.name)
def test_the_wrong_one_is_reported(bug):
    check(bug, RIGHT=0)


@pytest.mark.parametrize("bug", CASES, ids=lambda bug: bug.name)
def test_the_right_one_is_not(bug):
    with jax.default_device(jax.devices("cpu")[0]), rc.checking():
        jax.block_until_ready(bug.call(RIGHT=1))
