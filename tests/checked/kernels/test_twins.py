"""Kernels with a mistake beside ones without: a report for the first ones only."""

from __future__ import annotations

import dataclasses
import functools

import jax
import numpy as np
import pytest
from support.planted import OUT, Bug, below, check, f32, flat, i32, launch

import jax_rawcuda as rc

barriers = functools.partial(Bug, "barriers.cu")
atomics = functools.partial(Bug, "atomics.cu")
places = functools.partial(Bug, "places.cu")
ENDED = ("divergent __syncthreads", "has gone past it and ended")
LANES = ("divergent warp operation", *ENDED[1:])
BRANCH = ("divergent __syncthreads", "reached by another branch")
RACE = ("data race", "not ordered")
GONE_PAST = (*RACE, "waits at the __syncthreads() at", "has gone past", "of the branch")
ONE_BLOCK = launch("64 -> 64", 1, 64)
ONE_WARP = launch("32 -> 32", 1, 32)


def zeros(n, dtype=np.int32):
    return np.zeros(n, dtype)


ROUNDS = (8, zeros(8, np.float32), zeros(1, np.uint32))
BUGS = [
    barriers("skipped", (f32(64), 64), (*ENDED, "thread (32,0,0)"), ONE_BLOCK),
    barriers("uneven_trips", (f32(100),), ENDED, launch("n -> 64", 1, 64)),
    barriers("break_out", (np.arange(64, dtype=np.float32), 3), ENDED, ONE_BLOCK),
    barriers("one_line", (f32(64), 64), (*BRANCH, "thread (32,0,0)"), ONE_BLOCK),
    barriers("called_twice", (f32(64), 64), BRANCH[:1], ONE_BLOCK),
    barriers("counted", (f32(64), 64), BRANCH[:1], ONE_BLOCK),
    barriers("grouped", (f32(64), 64), ENDED, ONE_BLOCK),
    barriers("tree", (f32(64),), GONE_PAST, ONE_BLOCK),
    barriers("cleared", (f32(64), 40), GONE_PAST, ONE_BLOCK),
    barriers("half_shuffle", (f32(64), 64), LANES, ONE_BLOCK),
    barriers("quiet_vote", (f32(64), 0), (*ENDED, "thread (32,0,0)"), ONE_BLOCK),
    barriers("half_tile", (f32(64), 64), LANES, ONE_BLOCK),
    atomics(
        "late_zero",
        (below(9, 64),),
        ("shared memory 'total'", *RACE),
        launch("64 -> 1", 1, 64),
    ),
    atomics(
        "peeked_maximum",
        (below(99, 256), zeros(1)),
        ("argument 'best'", *RACE),
        flat("n, 1", in_out="best"),
    ),
    atomics(
        "block_fence",
        (f32(8), zeros(8, np.float32), zeros(1, np.uint32)),
        ("argument 'partial'", *RACE, "block (7,0,0)"),
        launch("8, 8, 1 -> 1", 8, 32, in_out=("partial", "done")),
    ),
    atomics(
        "block_counter",
        (below(9, 128), zeros(1)),
        ("argument 'total'", *RACE, "block (1,0,0)"),
        flat("n, 1", in_out="total"),
    ),
    atomics(
        "scoped_ref",
        (below(9, 128), zeros(1)),
        ("argument 'total'", *RACE, "block (1,0,0)"),
        flat("n, 1", in_out="total"),
    ),
    atomics(
        "flag",
        (below(9, 64),),
        ("shared memory 'value'", *RACE),
        launch("64 -> 1", 1, 64),
    ),
    atomics(
        "short_neighbours",
        (below(9, 32) + 1, zeros(32, np.uint16)),
        ("argument 'y' (uint16[32])", *RACE),
        launch("32, 32", 1, 32, in_out="y"),
    ),
    places(
        "far_neighbour",
        (f32(32), 200),
        ("shared memory 'low' (128 bytes)", OUT, "byte offset 800 (element 200)"),
        ONE_WARP,
    ),
    places(
        "unrolled",
        (f32(32),),
        ("local memory of a thread (16 bytes)", OUT, "byte offset 16 (element 4)"),
        ONE_WARP,
    ),
    places(
        "unrolled_below",
        (f32(32),),
        ("local memory of a thread (16 bytes)", OUT, "byte offset -4 (element -1)"),
        ONE_WARP,
    ),
    places(
        "far_before",
        (f32(32), 300),
        ("shared memory 'high' (128 bytes)", OUT, "byte offset -1200 (element -300)"),
        ONE_WARP,
    ),
    places(
        "into_dynamic",
        (f32(32), 200),
        ("shared memory 'fixed' (128 bytes)", OUT, "byte offset 800"),
        launch("32 -> 32", 1, 32, config={"shared_mem_bytes": 4096}),
    ),
    places(
        "far_global",
        (f32(32), 100),
        ("global variable 'first_table' (64 bytes)", OUT, "element 100"),
        ONE_WARP,
    ),
    places(
        "far_constant",
        (f32(32), 100),
        ("constant variable 'few' (32 bytes)", OUT, "element 100"),
        ONE_WARP,
    ),
    places(
        "beyond_shared",
        (f32(32), 50),
        ("shared memory 's' (128 bytes)", OUT, "element 50000"),
        ONE_WARP,
    ),
    places(
        "weighted",
        (i32(0, 3, 4, 2), rc.KernelArg.scalar(np.arange(4, dtype=np.float32))),
        ("parameter 'weights' (16 bytes)", OUT, "element 4", "thread (2,0,0)"),
        launch("4 -> 4", 1, 4),
    ),
    places(
        "null_function",
        (f32(32), 2),
        ("holds no function", "thread (16,0,0), block (0,0,0)"),
        ONE_WARP,
    ),
    places(
        "wild_function",
        (f32(32), 8),
        ("holds no function", "thread (0,0,0), block (0,0,0)"),
        ONE_WARP,
    ),
]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_found(bug):
    check(bug)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_its_right_twin_passes(bug):
    twin = dataclasses.replace(bug, name=f"{bug.name}_fixed")
    with jax.default_device(jax.devices("cpu")[0]), rc.checking():
        jax.block_until_ready(twin.call())


def test_a_function_of_other_parameters():
    bug = places(
        "wrong_prototype", (f32(32), 0), ("of that many parameters",), ONE_WARP
    )
    check(bug)


RIGHT = (
    "return_early return_in_loop return_from_lambda return_in_macro roles "
    "shuffle_of_the_rest vote_and_leave"
)


@pytest.mark.parametrize("name", RIGHT.split())
def test_threads_that_have_ended_need_not_come(name):
    right = barriers(name, (f32(64), 40), (), ONE_BLOCK)
    with jax.default_device(jax.devices("cpu")[0]), rc.checking():
        jax.block_until_ready(right.call())
