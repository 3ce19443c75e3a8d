"""What tutorials teach, with one mistake and without, and kernels that look wrong."""

from __future__ import annotations

import functools
import re

import jax
import numpy as np
import pytest
from support.planted import OUT, PLANTED, Bug, below, check, f32, i32, launch

import jax_rawcuda as rc

textbook = functools.partial(Bug, "textbook.cu")
RACE = ("data race", "not ordered")
UNWRITTEN = "that nothing has written"
X = f32(64)
TILES = (2, 2), (8, 8)
ONE_WARP = launch("32 -> 32", 1, 32)


def zeros(n, dtype=np.int32):
    return np.zeros(n, dtype)


CASES = [
    textbook(
        "matmul_reuse",
        (f32(16, 16), f32(16, 16)),
        ("shared memory 'as' (256 bytes)", *RACE),
        launch("n n, n n -> n n", *TILES),
    ),
    textbook(
        "matmul_guard",
        (f32(10, 12), f32(12, 10)),
        ("argument 'b' (float32[12,10])", OUT, "element 120", "thread (0,4,0)"),
        launch("m k, k n -> m n", *TILES),
    ),
    textbook(
        "halo",
        (f32(100),),
        ("'s' (136 bytes)", UNWRITTEN, "(element 33)", "thread (31,0,0)"),
        launch("n -> n", 4, 32),
    ),
    textbook(
        "blelloch",
        (X,),
        ("'s' (256 bytes)", *RACE, "(element 63)", "thread (31,0,0)"),
        launch("64 -> 64", 1, 32),
    ),
    textbook(
        "histogram",
        (i32(*range(256)),),
        ("'bins'", UNWRITTEN, "(element 128)", "thread (0,0,0)"),
        launch("n -> 256", 1, 128),
    ),
    textbook(
        "merge_bins",
        (below(16, 64), zeros(16)),
        ("argument 'y' (int32[16])", *RACE, "block (1,0,0)"),
        launch("n, 16", 2, 32, in_out="y"),
    ),
    textbook(
        "pipeline_reuse", (f32(3, 32),), ("'s'", *RACE), launch("n 32 -> 32", 1, 32)
    ),
    textbook(
        "list",
        (below(9, 128).reshape(32, 4),),
        ("memory from malloc (16 bytes)", "byte offset 8", "after free"),
        launch("32 n -> 32", 1, 32),
    ),
    textbook(
        "tile_exchange", (X,), ("'s'", UNWRITTEN, "15)"), launch("64 -> 64", 1, 64)
    ),
    textbook(
        "grid_pass",
        (X, zeros(64, np.float32)),
        ("argument 'scratch' (float32[64])", *RACE, "block (1,0,0)"),
        launch("n, n -> n", 2, 32, in_out="scratch", config={"cooperative": True}),
    ),
    textbook(
        "hand_over",
        (f32(1), zeros(2, np.float32), zeros(1)),
        ("argument 'y' (float32[2])", *RACE, "block (1,0,0)", "block (0,0,0)"),
        launch("1, 2, 1", 2, 32, in_out=("y", "flag")),
    ),
    textbook("softmax", (f32(32),), ("'word' (4 bytes)", *RACE), ONE_WARP),
    textbook(
        "carved_doubles",
        (f32(21),),
        ("'raw' (512 bytes)", "misaligned write of 8 bytes", "offset 84", "Align the"),
        launch("n -> n", 1, 32, config={"shared_mem_bytes": 512}),
    ),
    textbook(
        "tree_path",
        (i32(1, 3, -1, 4, -1), i32(2, -1, -1, -1, -1)),
        ("local memory of a thread (12 bytes)", OUT, "(element 3)"),
        launch("5, 5 -> 32", 1, 32),
    ),
    textbook(
        "few_at_barrier",
        (X,),
        ("deadlock", "32 threads wait", "32 have exited"),
        launch("64 -> 64", 1, 64),
    ),
    textbook(
        "gone_rows",
        (f32(50),),
        ("'s' (256 bytes)", UNWRITTEN, "(element 50)"),
        launch("n -> n", 1, 64),
    ),
    textbook(
        "queue",
        (np.ones(96, np.int32),),
        ("'items' (256 bytes)", f"{OUT} write", "(element 64)"),
        launch("96 -> 32", 1, 32),
    ),
]


def same_with_and_without_checks(call):
    with jax.default_device(jax.devices("cpu")[0]):
        unchecked = jax.tree.map(np.asarray, call())
        with rc.checking():
            jax.tree.map(np.testing.assert_array_equal, call(), unchecked)


@pytest.mark.parametrize("bug", CASES, ids=lambda bug: bug.name)
def test_the_wrong_one_is_reported(bug):
    check(bug, RIGHT=0)


@pytest.mark.parametrize("bug", CASES, ids=lambda bug: bug.name)
def test_the_right_one_is_not(bug):
    same_with_and_without_checks(functools.partial(bug.call, RIGHT=1))


TRICKY = re.findall(r"__global__ void (\w+)", (PLANTED / "tricky.cu").read_text())


@pytest.mark.parametrize("name", TRICKY)
def test_what_only_looks_wrong(name):
    args, in_out, shapes = (f32(512), zeros(512, np.float32)), ("y",), "512, 512"
    if name == "aggregated":
        args, in_out, shapes = (*args, zeros(1)), ("y", "n"), "512, 512, 1"
    contract = launch(shapes, 1, 32, in_out=in_out)
    right = Bug("tricky.cu", name, args, (), contract)
    same_with_and_without_checks(right.call)
