"""What is compiled for the checks of alignment: nothing, where there are no vectors."""

from __future__ import annotations

import functools

import pytest

import jax_rawcuda as rc
from jax_rawcuda.cpu.frontend.clang import compile_source

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
