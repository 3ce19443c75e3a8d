"""What kernels say: printf, assert and __trap, each in a process of its own.

A failed kernel takes a GPU's context with it, and a GPU prints past Python.
"""

from __future__ import annotations

import re

import pytest
from support.process import run_python

PROGRAM = r"""
import os, sys
import jax, numpy as np
import jax_rawcuda as rc

platform, text = sys.argv[1:]
kernel = rc.kernel(text, shapes="n -> n", threads="n", block=64)
x = jax.device_put(np.arange(100, dtype=np.int32), jax.devices(platform)[0])
try:
    found = np.asarray(jax.jit(kernel)(x))
except jax.errors.JaxRuntimeError as error:
    print("error:", error, flush=True)
    os._exit(0)  # nothing else may be done with the context
print("values:", found.tolist(), flush=True)
"""
KERNEL = """extern "C" __global__ void k(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  BODY
  y[i] = x[i] + 1;
}"""
VALUES = f"values: {list(range(1, 101))}"


def run(device, body, head=""):
    text = head + KERNEL.replace("BODY", body)
    return run_python(PROGRAM, device.platform, text, JAX_RAWCUDA_DEBUG="1")


def test_printf(device):
    body = r"""if (i % 10 == 0)
      printf("%d|%5.2f|%s|%lld|%c|%x|%%|%-4d|%u\n", -i, i * 0.25, "text",
             i + (1ll << 40), 'a' + i / 10, 255u, i, 4000000000u);"""
    out = run(device, body).stdout.splitlines()
    lines = [
        f"{-i}|{i * 0.25:5.2f}|text|{i + (1 << 40)}|{chr(97 + i // 10)}|ff|%|{i:<4}"
        "|4000000000"
        for i in range(0, 100, 10)
    ]
    assert sorted(out) == sorted([*lines, VALUES])


FAILS = "assert(x[i] != 70);"


def test_an_assertion_that_holds(device):
    assert run(device, "assert(x[i] == i);").stdout.strip() == VALUES


def test_an_assertion_that_fails(device):
    done = run(device, FAILS)
    error = r"k: assertion `x\[i\] != 70` failed in thread \(6,0,0\), block \(1,0,0\)"
    if device.platform == "gpu":
        error = r"k failed while it ran: cuStreamSynchronize failed: CUDA_ERROR_ASSERT"
        # The driver tells the rest.
        place = r":4: .*block: \[1,0,0\], thread: \[6,0,0\]"
        assert re.search(rf"{place} Assertion `x\[i\] != 70` failed", done.stderr)
    assert re.search(f"^error: .*{error}", done.stdout, re.DOTALL), done.stdout


@pytest.mark.parametrize("header", ["cassert", "assert.h"])
def test_assertions_after_ndebug(device, header):
    head = f"#define NDEBUG\n#include <{header}>\n"
    assert run(device, FAILS, head).stdout.strip() == VALUES


def test_a_trap(device):
    done = run(device, "if (x[i] == 70) __trap();")
    error = r"k: trap in thread \(6,0,0\), block \(1,0,0\) at .*:4\."
    if device.platform == "gpu":
        error = r"k failed while it ran: cuStreamSynchronize failed: CUDA_ERROR_\w+"
    assert re.search(f"^error: .*{error}", done.stdout, re.DOTALL), done.stdout
