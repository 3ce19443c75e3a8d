"""Kernels that read what nobody wrote, or write what is not theirs: each is found."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.planted import (
    Bug,
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

contents = functools.partial(Bug, "contents.cu")
BUGS = [
    contents(
        "write_const",
        (f32(64),),
        ("argument 'x' (float32[64])", "write of 4 bytes", "read-only memory"),
        flat("n -> n"),
    ),
    contents(
        "count_into_const",
        (below(4, 64), np.zeros(4, np.int32)),
        ("argument 'total' (int32[4])", "atomic update", "read-only memory"),
        flat("n, 4 -> n"),
    ),
    contents(
        "ragged_tile",
        (f32(100),),
        (
            "shared memory 'tile' (256 bytes)",
            "byte offset 144",
            "has written",
            "block (1,0,0)",
        ),
        flat("n -> n"),
    ),
    contents(
        "left_by_last_block",
        (f32(128),),
        ("shared memory 'kept' (4 bytes)", "has written", "block (1,0,0)"),
        launch("n -> n", 2, 64),
    ),
    contents(
        "accumulate",
        (f32(64),),
        ("argument 'y' (float32[64])", "read of 4 bytes", "has written", "fill="),
        flat("n -> n"),
    ),
    contents(
        "unfilled_total",
        (f32(64),),
        ("argument 'y' (float32[1])", "atomic update", "has written"),
        flat("n -> 1"),
    ),
    contents(
        "too_few_threads",
        (f32(100),),
        (
            "result 'y' (float32[100])",
            "36 of 100 elements are never written",
            "first is element 64",
        ),
        launch("n -> n", 1, 64),
    ),
    contents(
        "after_free",
        (below(8, 4),),
        ("memory from malloc (32 bytes)", "read of 4 bytes", "after free"),
        flat("n -> n"),
    ),
    contents(
        "double_free",
        (i32(1, 3, 5, 3),),
        ("free of 0x", "free already", "thread (1,0,0)"),
        flat("n -> n"),
    ),
]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_found(bug):
    check(bug)


def test_a_workspace_that_is_read_before_it_is_written():
    @rc.op
    def through_scratch(s, x):
        y = s.alloc_output(x.shape, x.dtype)
        scratch = s.alloc_bytes(8 * x.size + 4)
        kernel = function("contents.cu", "read_workspace")
        s.launch(kernel, rc.LaunchConfig.flat(x.size, 64), x, scratch, y, x.size)
        return y

    text = report(through_scratch, f32(64))
    assert "argument 'scratch' (516 bytes" in text
    assert "that nothing has written" in text
    (line,) = marked_lines("contents.cu", "read_workspace")
    assert f"contents.cu:{line}" in text


def test_unchecked_calls_run_as_ever():
    (bug,) = (b for b in BUGS if b.name == "too_few_threads")
    with jax.default_device(jax.devices("cpu")[0]):
        (x,) = bug.args
        np.testing.assert_array_equal(bug.call()[:64], x[:64])
        assert jnp.shape(bug.call()) == (100,)
