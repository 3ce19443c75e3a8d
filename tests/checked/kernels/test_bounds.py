"""Kernels that leave an array or read it at the wrong place: each is found."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from support.planted import (
    OUT,
    Bug,
    array,
    below,
    check,
    f32,
    flat,
    function,
    i32,
    launch,
    marked_lines,
    report,
)

import jax_rawcuda as rc

bounds = functools.partial(Bug, "bounds.cu")
BUGS = [
    bounds(
        "stencil_right",
        (f32(100),),
        (
            "argument 'x' (float32[100])",
            f"{OUT} read of 4 bytes",
            "byte offset 400",
            "(element 100)",
            "0 bytes past its end",
            "thread (35,0,0), block (1,0,0)",
        ),
        flat("n -> n"),
    ),
    bounds(
        "stencil_left",
        (f32(100),),
        (
            "argument 'x' (float32[100])",
            "byte offset -4 (element -1)",
            "4 bytes before its start",
            "thread (0,0,0), block (0,0,0)",
        ),
        flat("n -> n"),
    ),
    bounds(
        "transpose_stride",
        (f32(8, 24),),
        ("argument 'y' (float32[24,8])", f"{OUT} write of 4 bytes", "element 192"),
        launch("h w -> w h", 1, (24, 8)),
    ),
    bounds(
        "missing_guard",
        (),
        ("argument 'y' (float32[100])", "element 100", "thread (36,0,0)"),
        {"out": array(100), "launch": rc.LaunchConfig(2, 64)},
    ),
    bounds(
        "wrong_size",
        (f32(64),),
        ("argument 'x' (float32[64])", "read of 8 bytes", "byte offset 256"),
        flat("n -> n"),
    ),
    bounds(
        "dynamic_shared",
        (f32(32),),
        (
            "shared memory 'row' (128 bytes)",
            "byte offset 128 (element 32)",
            "thread (31,0,0)",
            "or give the launch more shared_mem_bytes=.",
        ),
        launch("n -> n", 1, 32, config={"shared_mem_bytes": 128}),
    ),
    bounds(
        "unsized_shared",
        (f32(32),),
        ("'row' (0 bytes)", OUT, ". Give the launch shared_mem_bytes=: it has none."),
        launch("n -> n", 1, 32),
    ),
    bounds(
        "shared_neighbour",
        (f32(32), 4),
        ("shared memory 'low' (128 bytes)", "byte offset 128", "thread (28,0,0)"),
        launch("n -> n", 1, 32),
    ),
    bounds(
        "local_array",
        (below(9, 64),),
        ("local memory of a thread (32 bytes)", "byte offset 32"),
        flat("n -> n"),
    ),
    bounds(
        "gather",
        (f32(10), i32(*range(9), 10)),
        ("argument 'x' (float32[10])", "element 10", "thread (9,0,0)"),
        flat("m, n -> n"),
    ),
    bounds(
        "bin_too_high",
        (i32(0, 3, 64, 2), np.zeros(64, np.int32)),
        (
            "argument 'total' (int32[64])",
            f"{OUT} atomic update",
            "element 64",
            "thread (2,0,0)",
        ),
        flat("n, 64", in_out="total"),
    ),
    bounds(
        "far_away",
        (f32(4096), f32(4096)),
        ("argument 'x' (float32[4096])", "byte offset 1048576 (element 262144)"),
        flat("n, n -> n"),
    ),
    bounds(
        "vector_tail",
        (f32(67),),
        (
            "argument 'x' (float32[67])",
            "read of 16 bytes",
            "byte offset 256",
            "goes 4 bytes beyond its end",
        ),
        flat("n -> n"),
    ),
    bounds(
        "async_copy",
        (f32(100),),
        ("argument 'x' (float32[100])", f"{OUT} read of 4 bytes", "element 100"),
        flat("n -> n", block=128),
    ),
    bounds(
        "constant_table",
        (i32(0, 1, 4, 2),),
        ("constant variable 'weights' (16 bytes)", f"{OUT} read", "element 4"),
        flat("n -> n"),
    ),
    bounds(
        "misaligned_vector",
        (f32(36), 1),
        (
            "argument 'x' (float32[36])",
            "misaligned read of 16 bytes",
            "byte offset 4 ",
            "multiple of 16 bytes",
        ),
        {"out": array(8), "launch": rc.LaunchConfig(1, 8)},
    ),
    bounds(
        "misaligned_shared",
        (f32(32), 4),
        ("shared memory 'bytes' (1024 bytes)", "misaligned write of 8 bytes"),
        launch("n -> n", 1, 32),
    ),
    bounds(
        "heap_overrun",
        (i32(3, 7, 8, 1),),
        (
            "memory from malloc (32 bytes)",
            f"{OUT} write",
            "byte offset 32",
            "thread (2,0,0)",
        ),
        flat("n -> n"),
    ),
]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_found(bug):
    check(bug)


def test_a_null_pointer():
    @rc.op
    def add_bias(s, x):
        y = s.alloc_output(x.shape, x.dtype)
        kernel = function("bounds.cu", "null_pointer")
        s.launch(kernel, rc.LaunchConfig.flat(x.size, 64), x, None, y, x.size)
        return y

    text = report(add_bias, f32(64))
    assert "null_pointer: check failed: null pointer: read of 4 bytes at" in text
    (line,) = marked_lines("bounds.cu", "null_pointer")
    assert f"bounds.cu:{line}" in text
