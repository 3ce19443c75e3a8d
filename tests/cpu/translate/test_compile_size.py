"""What there is to compile on the CPU grows as what was written does, and no faster."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.cpu_runner import compile_ptx, run

from jax_rawcuda import UnsupportedError

pytest.importorskip("llvmlite")

from jax_rawcuda.cpu import llvm
from jax_rawcuda.cpu.analysis import graph as cfg
from jax_rawcuda.cpu.translate import translate


def chain(depth, calls, wait=""):
    """Returns functions that each call the one before, and a kernel of the last.

    Args:
      depth: How many functions.
      calls: How often each calls the next.
      wait: What the first does before it returns.
    """
    text = f"""(unsigned*);
      __device__ __noinline__ unsigned f0(unsigned x) {{ {wait} return x * 3 + 1; }}"""
    for level in range(1, depth):
        inner = " ^ ".join(f"f{level - 1}(x + {7 * n + 1})" for n in range(calls))
        text += f"""
      __device__ __noinline__ unsigned f{level}(unsigned x) {{
        return ({inner}) + {level};
      }}"""
    return (
        text
        + f"""
      extern "C" __global__ void k(unsigned* out) {{
        out[threadIdx.x] = f{depth - 1}(out[threadIdx.x]);
      }}"""
    )


def reference(depth, calls, x):
    if depth == 1:
        return x * np.uint32(3) + np.uint32(1)
    inner = [
        reference(depth - 1, calls, x + np.uint32(7 * n + 1)) for n in range(calls)
    ]
    return np.bitwise_xor.reduce(inner) + np.uint32(depth - 1)


def machine_code(source):
    """Returns the bytes of a source's machine code."""
    ir = translate(compile_ptx(source), "k").ir
    return len(llvm.Toolchain().compile(ir))


def lines(source):
    return translate(compile_ptx(source), "k").ir.count("\n")


@pytest.mark.parametrize("calls", [1, 2, 3])
@pytest.mark.parametrize("wait", ["", "__syncwarp();"])
def test_values_of_functions_that_call_functions(calls, wait):
    depth = {1: 40, 2: 5, 3: 3}[calls]
    x = np.random.default_rng(calls).integers(0, 2**32, 32, np.uint32)
    (out,) = run(chain(depth, calls, wait), x)
    np.testing.assert_array_equal(out, reference(depth, calls, x))


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_functions_are_not_copied_at_every_level(calls):
    small, large = (machine_code(chain(depth, calls)) for depth in (20, 80))
    assert large < 8 * small  # the upper ones ask whether the launch is to stop


def test_deep_calls_that_wait():
    small, large = (lines(chain(n, 1, "__syncwarp();")) for n in (100, 400))
    assert large < 5 * small


def test_functions_that_wait_in_too_many_places():
    text = compile_ptx(chain(60, 2, "__syncwarp();"))
    with pytest.raises(UnsupportedError) as caught:
        translate(text, "k")
    assert re.fullmatch(
        r"k: \d{18,} PTX statements to compile for the CPU; the limit is 50000\. "
        r"Unroll fewer loops, or split the kernel\. Functions with a barrier or warp "
        r"operation are copied to each place that calls them; the longest is "
        r"\w*f59\w*\.",
        str(caught.value),
    )


def test_kernels_that_are_too_long():
    body = "add.u32 %r, %r, 1;\n" * 50_000
    text = f".visible .entry k() {{ .reg .b32 %r; mov.u32 %r, 0; {body} ret; }}"
    with pytest.raises(UnsupportedError) as caught:
        translate(text, "k")
    assert str(caught.value) == (
        "k: 50002 PTX statements to compile for the CPU; the limit is 50000. "
        "Unroll fewer loops, or split the kernel."
    )


@pytest.mark.parametrize("count", [100, 600, 3000])
def test_values_of_long_kernels(count):
    """What LLVM vectorises, what is too long for that, and for all its other passes."""
    random = np.random.default_rng(count)
    constants = random.integers(0, 2**32, count, np.uint32)
    steps = "\n".join(f"a = (a ^ {c}u) * 5u + (a >> {c % 32});" for c in constants)
    source = f"""(unsigned* out) {{
      unsigned a = out[threadIdx.x];
      {steps}
      out[threadIdx.x] = a;
    }}"""
    limits = (llvm._MOST_VECTORISED, llvm._MOST_OPTIMISED)
    exceeded = sum(lines(source) > limit for limit in limits)
    assert exceeded == {100: 0, 600: 1, 3000: 2}[count]
    x = random.integers(0, 2**32, 256, np.uint32)
    (out,) = run(source, x, block=256)
    for c in constants:
        x = (x ^ c) * np.uint32(5) + (x >> (c % 32))
    np.testing.assert_array_equal(out, x)


@pytest.mark.parametrize(
    "statement",
    [
        "if (a > {0}.5f) out[{0}] = a; else a += out[{0}];",
        "for (int i = 0; i < n + {0}; i++) {{ a += out[i * {0}]; s[t] = a; }}",
        "s[t] = a; __syncthreads(); a += s[t ^ {0}];",
    ],
    ids=["branches", "loops", "barriers"],
)
def test_how_often_blocks_are_visited(statement, monkeypatch):
    """Of every block, a number of times that does not depend on how many there are."""
    visits = 0

    def successors(block, across=True):
        nonlocal visits
        visits += 1
        return follow(block, across)

    follow = cfg.Block.successors
    monkeypatch.setattr(cfg.Block, "successors", successors)

    def count(statements):
        nonlocal visits
        visits = 0
        body = "\n".join(statement.format(n) for n in range(1, statements + 1))
        source = f"""(float* out, int n) {{
          __shared__ float s[1024];
          int t = threadIdx.x;
          float a = out[t];
          {body}
          out[t] = a + s[t];
        }}"""
        translate(compile_ptx(source), "k")
        return visits

    small, large = count(20), count(80)
    assert 0 < large < 6 * small
