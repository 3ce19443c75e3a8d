"""Kernels with one mistake each: checked mode finds it, and says where it is.

The sources are in `planted/`. Lines that a report must name end in `BUG <kernel>`.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc

PLANTED = Path(__file__).parent / "planted"
RNG = np.random.default_rng(5)


def f32(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def i32(*values):
    return np.asarray(values, np.int32)


def array(*shape, dtype="float32"):
    return jax.ShapeDtypeStruct(shape, dtype)


def below(limit, n):
    return RNG.integers(0, limit, n).astype(np.int32)


@dataclass(frozen=True)
class Bug:
    """A kernel, how it is called, and what must stand in the report."""

    file: str
    name: str
    args: tuple
    says: tuple[str, ...]
    contract: dict = field(default_factory=dict)

    def call(self):
        kernel = rc.kernel(PLANTED / self.file, self.name, **self.contract)
        return kernel(*self.args)


def flat(shapes, block=64, **more):
    return {"shapes": shapes, "threads": "n", "block": block, **more}


def launch(shapes, grid, block, **more):
    config = rc.LaunchConfig(grid, block, **more.pop("config", {}))
    return {"shapes": shapes, "launch": config, **more}


bounds = functools.partial(Bug, "bounds.cu")
contents = functools.partial(Bug, "contents.cu")
races = functools.partial(Bug, "races.cu")

OUT = "out of bounds"
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
        ),
        launch("n -> n", 1, 32, config={"shared_mem_bytes": 128}),
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


def marked_lines(bug):
    lines = (PLANTED / bug.file).read_text().splitlines()
    mark = re.compile(rf"// BUG {bug.name}$")
    return [number for number, line in enumerate(lines, 1) if mark.search(line)]


def report(bug):
    cpu = jax.default_device(jax.devices("cpu")[0])
    with cpu, pytest.raises(rc.CheckError) as caught, rc.checking():
        bug.call()
    return str(caught.value)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_found(bug):
    text = report(bug)
    assert text.startswith(f"{bug.name}: check failed: "), text
    for part in bug.says:
        assert part in text
    for line in marked_lines(bug):
        assert f"{bug.file}:{line}" in text


# Bugs that need a session


def function(file, name):
    return rc.compile_nvrtc(PLANTED / file).function(name)


def fails(op, *args):
    cpu = jax.default_device(jax.devices("cpu")[0])
    with cpu, pytest.raises(rc.CheckError) as caught, rc.checking():
        op(*args)
    return str(caught.value)


def test_a_null_pointer():
    @rc.op
    def add_bias(s, x):
        y = s.alloc_output(x.shape, x.dtype)
        kernel = function("bounds.cu", "null_pointer")
        s.launch(kernel, rc.LaunchConfig.flat(x.size, 64), x, None, y, x.size)
        return y

    text = fails(add_bias, f32(64))
    assert "null_pointer: check failed: null pointer: read of 4 bytes at" in text
    (line,) = marked_lines(Bug("bounds.cu", "null_pointer", (), ()))
    assert f"bounds.cu:{line}" in text


def test_a_workspace_that_is_read_before_it_is_written():
    @rc.op
    def through_scratch(s, x):
        y = s.alloc_output(x.shape, x.dtype)
        scratch = s.alloc_bytes(8 * x.size + 4)
        kernel = function("contents.cu", "read_workspace")
        s.launch(kernel, rc.LaunchConfig.flat(x.size, 64), x, scratch, y, x.size)
        return y

    text = fails(through_scratch, f32(64))
    assert "argument 'scratch' (516 bytes" in text
    assert "that nothing has written" in text
    (line,) = marked_lines(Bug("contents.cu", "read_workspace", (), ()))
    assert f"contents.cu:{line}" in text


def test_unchecked_calls_run_as_ever():
    (bug,) = (b for b in BUGS if b.name == "too_few_threads")
    with jax.default_device(jax.devices("cpu")[0]):
        (x,) = bug.args
        np.testing.assert_array_equal(bug.call()[:64], x[:64])
        assert jnp.shape(bug.call()) == (100,)
