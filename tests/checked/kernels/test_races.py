"""Kernels whose threads do not wait for each other: each is found."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from support.planted import Bug, array, below, check, f32, flat, launch

import jax_rawcuda as rc

races = functools.partial(Bug, "races.cu")
BUGS = [
    races(
        "matmul",
        (f32(32, 32), f32(32, 32)),
        ("shared memory 'tile_a' (1024 bytes)", "data race", "__syncthreads()"),
        launch("n n, n n -> n n", (2, 2), (16, 16)),
    ),
    races(
        "reduce",
        (f32(256),),
        ("shared memory 's' (512 bytes)", "data race", "__syncthreads()"),
        launch("256 -> 2", 2, 128),
    ),
    races(
        "reduce_by_warp",
        (f32(256),),
        ("shared memory 's'", "data race", "thread (127,0,0)"),
        launch("256 -> 2", 2, 128),
    ),
    races(
        "histogram",
        (below(4, 128), np.zeros(4, np.int32)),
        ("argument 'total' (int32[4])", "data race", "atomic"),
        flat("n, 4", in_out="total"),
    ),
    races(
        "shared_histogram",
        (below(16, 64),),
        ("shared memory 'local' (64 bytes)", "data race"),
        launch("n -> 16", 1, 64),
    ),
    races(
        "no_syncwarp",
        (f32(32),),
        ("shared memory 's'", "data race", "__syncwarp()"),
        launch("n -> n", 1, 32),
    ),
    races(
        "broadcast",
        (f32(4),),
        ("shared memory 'value' (4 bytes)", "data race"),
        launch("n -> 64", 1, 64),
    ),
    races(
        "overlapping_halo",
        (f32(128),),
        ("argument 'y' (float32[128])", "data race", "element 64", "Blocks run in any"),
        flat("n -> n"),
    ),
    races(
        "stencil_in_place",
        (f32(128),),
        ("argument 'u' (float32[128])", "data race"),
        flat("n", in_out="u"),
    ),
    races(
        "last_block",
        (f32(8), np.zeros(8, np.float32), np.zeros(1, np.uint32)),
        ("argument 'partial' (float32[8])", "data race", "block (7,0,0)"),
        launch("8, 8, 1 -> 1", 8, 32, in_out=("partial", "done")),
    ),
    races(
        "mixed_counter",
        (below(9, 64), np.zeros(1, np.int32)),
        ("argument 'total' (int32[1])", "data race"),
        flat("n, 1 -> n", in_out="total"),
    ),
    races(
        "global_variable",
        (),
        ("global variable 'ticket' (4 bytes)", "data race"),
        {"out": array(64, dtype="int32"), "launch": rc.LaunchConfig(2, 32)},
    ),
    races(
        "divergent",
        (f32(64),),
        ("divergent __syncthreads", "thread (0,0,0), block (0,0,0)", "thread (32,0,0)"),
        launch("n -> n", 1, 64),
    ),
    races(
        "stuck",
        (f32(64),),
        ("deadlock in block (0,0,0)", "16 threads wait", "48 threads wait"),
        launch("n -> n", 1, 64),
    ),
    races(
        "too_few_arrive",
        (f32(64),),
        ("deadlock in block (0,0,0)", "32 threads wait"),
        launch("n -> n", 1, 64),
    ),
]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_found(bug):
    check(bug)
