"""Vectors at odd places: each is found, whatever clang makes of the access."""

from __future__ import annotations

import functools

import jax
import numpy as np
import pytest
from support.planted import Bug, check, f32, launch

import jax_rawcuda as rc
from jax_rawcuda.cpu.frontend.clang import compile_source

X = f32(256)
CONTRACT = launch("256, 256", 1, 32, in_out="y")
aligned = functools.partial(
    Bug, "alignment.cu", args=(X, np.zeros(256, np.float32)), contract=CONTRACT
)


def misaligned(action, size, offset, thread, needs=0):
    place = f"misaligned {action} of {size} bytes at byte offset {offset}"
    return (
        place,
        f"thread ({thread},0,0), block (0,0,0)",
        f"it needs a multiple of {needs or size} bytes. ",
    )


BUGS = [
    aligned("cast_of_shared", says=("'s' (256", *misaligned("read", 16, 4, 1))),
    aligned("odd_row", says=("'tile'", *misaligned("read", 8, 156, 1))),
    aligned("vector_store", says=("'s'", *misaligned("write", 16, 12, 1))),
    aligned("number_in_bytes", says=("'s'", *misaligned("write", 4, 1, 0))),
    aligned(
        "copied_vector",
        says=("argument 'y' (float32[256])", *misaligned("write", 16, 8, 0)),
    ),
    aligned(
        "copied_in",
        says=("argument 'x' (float32[256])", *misaligned("read", 16, 8, 0)),
    ),
    aligned(
        "copied_out",
        says=("argument 'y' (float32[256])", *misaligned("write", 16, 24, 1)),
    ),
    aligned(
        "copied_pack",
        says=("argument 'x' (float32[256])", *misaligned("read", 16, 8, 0)),
    ),
    aligned("pack", says=("'s'", *misaligned("read", 16, 24, 1), "Align the index")),
    aligned("global_table", says=("'table'", *misaligned("read", 8, 4, 0))),
    aligned(
        "unaligned_declaration",
        says=(
            "'s' (256 bytes)",
            *misaligned("write", 8, 0, 0),
            "Declare it with alignas(8), or use a narrower type.",
        ),
    ),
]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_found(bug):
    check(bug)


RIGHT = """
    all_aligned first_part copied_bytes packed_record packed_entry plain_struct one_part
"""


@pytest.mark.parametrize("name", RIGHT.split())
def test_right_ones_pass_and_give_the_same(name):
    right = aligned(name, says=())
    with jax.default_device(jax.devices("cpu")[0]):
        unchecked = np.asarray(right.call())
        with rc.checking():
            np.testing.assert_array_equal(right.call(), unchecked)
    assert np.any(unchecked)


SAXPY = """
extern "C" __global__ void saxpy(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""


def instructions(ptx):
    """The lines without places, in any order."""
    return sorted(line for line in ptx.splitlines() if ".loc" not in line)


@pytest.mark.parametrize("flags", [(), ("-ffp-contract=off",)])
@pytest.mark.parametrize("fast_math", [False, True])
def test_code_without_vectors_is_the_same(flags, fast_math):
    compiled = functools.partial(
        compile_source, SAXPY, program_name="a.cu", fast_math=fast_math, flags=flags
    )
    assert instructions(compiled(checked=True).ptx) == instructions(compiled().ptx)


def test_what_does_not_compile_says_so_once():
    with pytest.raises(rc.CompileError) as caught:
        compile_source("int f() { return z; }", program_name="a.cu", checked=True)
    assert caught.value.log.count("undeclared identifier 'z'") == 1
