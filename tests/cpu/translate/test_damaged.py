"""PTX that is damaged: it is refused, or it runs; nothing else happens."""

from __future__ import annotations

import itertools
import random
import re
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from support.cpu_runner import compile_ptx
from support.process import run_python

import jax_rawcuda as rc
from jax_rawcuda import cpu

SOURCE = """(const float* x, float* y, int n);
__device__ __noinline__ float square(float a) { return a * a; }
extern "C" __global__ void k(const float* x, float* y, int n) {
  __shared__ float s[64];
  float local[4] = {1, 2, 3, 4};
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  float sum = __shfl_xor_sync(~0u, s[63 - threadIdx.x], 3);
  for (int j = 0; j < n % 7; j++) sum += square(s[j]) * local[j & 3];
  switch (n & 3) {
    case 0: sum = sqrtf(sum); break;
    case 1: sum = (int)sum / (n + 1); break;
    case 2: atomicAdd(y, sum); break;
  }
  if (i < n) y[i] = sum;
}"""
INSERTIONS = [
    *("-1", "99999999999", "0x7fffffffffffffff", "0f", "0f3F80", "\0", "é", ",", ":"),
    *("{", "}", ";", "%r1", "%p1", "%tid.x", ".f16", ".b128", ".v4", "@", "[", "]"),
    *("(", ")", "|", "!", ".reg", ".shared", ".entry", ".func", "bar.sync", "ret"),
    *("exit", "bra", "call", "$L__BB0_1"),
]
COUNT = 120
SIGNATURE = "k(const float* x, float* y, int n)"


def mutations():
    """Texts that differ from a compiler's in one place."""
    text = compile_ptx(SOURCE)
    tokens = re.findall(r"[\w$%]+|\W", text)
    solid = [i for i, token in enumerate(tokens) if token.strip()]
    lines = text.splitlines(keepends=True)
    for seed in range(COUNT):
        rng = random.Random(seed)
        place, other = rng.choice(solid), rng.choice(solid)
        changed = list(tokens)
        match seed % 6:
            case 0:
                yield text[: rng.randrange(len(text))]
                continue
            case 1:
                some = rng.sample(range(len(lines)), 2)
                yield "".join(
                    lines[some[1 - some.index(i)] if i in some else i]
                    for i in range(len(lines))
                )
                continue
            case 2:
                line = rng.randrange(len(lines))
                yield "".join(lines[:line] + lines[line + 1 :])
                continue
            case 3:
                del changed[place]
            case 4:
                changed[place] = tokens[other]
            case 5:
                changed[place] = rng.choice(INSERTIONS)
        yield "".join(changed)


def load_all():
    """Loads every mutation; writes how many were refused."""
    refused = 0
    for text in mutations():
        try:
            rc.load_ptx(text, signature=SIGNATURE)
            cpu.load_kernel(text, "k")
        except rc.RawCudaError:
            refused += 1
    sys.stdout.write(f"{refused}\n")


def run_some():
    """Runs mutations, with every access checked; writes how many failed."""
    failed = 0
    x = np.arange(200, dtype=np.float32)
    for text in itertools.islice(mutations(), 0, None, 7):
        try:
            function = rc.load_ptx(text, signature=SIGNATURE).function("k")
            kernel = rc.kernel(function, shapes="n -> n", threads="n", block=64)
            with rc.checking():
                np.asarray(kernel(x))
        except (rc.RawCudaError, jax.errors.JaxRuntimeError):
            failed += 1
    sys.stdout.write(f"{failed}\n")


def child(call, **environment):
    here = str(Path(__file__).parent)
    program = f"import sys; sys.path.append({here!r}); import test_damaged as t; {call}"
    printed = run_python(program, timeout=500, **environment).stdout
    return int(printed.split()[-1])


def test_damaged_ptx_is_refused_or_loads():
    assert COUNT // 5 < child("t.load_all()") < COUNT * 4 // 5


def test_damaged_ptx_that_loads_runs_or_fails():
    failed = child("t.run_some()", JAX_RAWCUDA_CPU_TIMEOUT="2")
    assert COUNT // 7 // 5 < failed < COUNT // 7


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (".visible .entry k() { ret;", "k: the PTX cannot be translated|ends where"),
        (".visible .entry k() { frobnicate.u32 %r1; ret; }", "`frobnicate.u32 %r1`"),
        (
            ".visible .entry k() { .reg .b32 %r<9999999999>; ret; }",
            "too many registers",
        ),
        (".visible .entry other() { ret; }", "k: the PTX has no such kernel"),
        (
            ".visible .entry k() { .reg .b32 %r1; vote.sync.all.pred %r1; ret; }",
            r"\(ValueError: .*would ptxas take it",
        ),
    ],
)
def test_what_is_wrong_is_said(text, match):
    with pytest.raises(rc.UnsupportedError, match=match):
        cpu.load_kernel(text, "k")


@pytest.mark.parametrize(
    ("declaration", "match"),
    [
        (".local .b8 a[600000];", "600000 bytes for local variables per thread in k"),
        (".global .b8 g[3000000000];", "3000000000 bytes for variable g; the limit"),
    ],
)
def test_variables_that_are_too_large(declaration, match):
    inside = declaration if ".local" in declaration else ""
    outside = "" if inside else declaration
    text = f"{outside} .visible .entry k() {{ {inside} ret; }}"
    with pytest.raises(rc.UnsupportedError, match=match):
        cpu.load_kernel(text, "k")


def test_parameters_that_are_too_large():
    text = ".visible .entry k(.param .b8 p[40000]) { ret; }"
    with pytest.raises(rc.UnsupportedError, match="40000 bytes for parameters"):
        cpu.load_kernel(text, "k")
