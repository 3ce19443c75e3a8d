"""Latency of a kernel's first call, stage by stage, with every cache cold or warm.

NVRTC makes the cubin for a CUDA device (no device needed), clang the PTX for the CPU,
the translator and LLVM the host code; "warm" is the first call of a new process that
finds all of them on disk.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jax
import numpy as np
from _timing import machine, markdown

import jax_rawcuda as rc
from jax_rawcuda import cpu
from jax_rawcuda._compile.target import Target

KERNELS = Path(__file__).parents[1] / "tests" / "support" / "kernels"
CASES = {
    "saxpy": ("saxpy.cu", "saxpy_grid_stride"),
    "matmul": ("matmul.cu", "matmul"),
    "softmax": ("rows.cu", "softmax"),
    "n-body": ("nbody.cu", "nbody_step"),
}


def milliseconds(function):
    """Returns the wall time of one call, and its result."""
    start = time.perf_counter()
    result = function()
    return 1e3 * (time.perf_counter() - start), result


def stages(file, name):
    """Times NVRTC (signature included), clang, and the translator, once each."""
    nvrtc, function = milliseconds(lambda: compiled(file, name))
    clang, image = milliseconds(lambda: function.image(Target("cpu")))
    symbol = function.lowered_name(Target("cpu"))
    jit, _ = milliseconds(lambda: cpu.load_kernel(image.data.decode(), symbol))
    return nvrtc, clang, jit


def compiled(file, name):
    """Returns a kernel with its cubin."""
    function = rc.compile_nvrtc(KERNELS / file).function(name)
    function.image(Target("cuda", "sm_90"))
    return function


def first_call():
    """Prints the milliseconds of a first saxpy in jit, tracing and XLA included."""
    jax.config.update("jax_platforms", "cpu")
    saxpy = rc.kernel(
        KERNELS / "saxpy.cu",
        "saxpy_grid_stride",
        shapes="n, n -> n",
        launch=lambda *_: rc.LaunchConfig(grid=8, block=128),
    )
    x = np.ones(1000, np.float32)
    jax.jit(lambda x: x + 1)(x).block_until_ready()  # start the backend
    call = jax.jit(lambda x: saxpy(x, x, 2.0))
    print(milliseconds(lambda: call(x).block_until_ready())[0])


def cold_and_warm():
    """Returns the first call's time in two processes that share a cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "JAX_RAWCUDA_CACHE_DIR": folder}
        command = [sys.executable, __file__, "first-call"]
        return [
            float(subprocess.check_output(command, env=environment, text=True))
            for _ in range(2)
        ]


def main():
    os.environ["JAX_RAWCUDA_CACHE_DIR"] = "off"
    stages("philox.cu", "philox")  # load the compilers' libraries
    rows = []
    for name, (file, kernel_name) in CASES.items():
        rows.append([name, *(f"{t:.0f}" for t in stages(file, kernel_name))])
    print(machine(), "\n")
    header = ["milliseconds", "NVRTC, sm_90", "clang", "translate + LLVM"]
    print(markdown(header, rows), "\n")
    cold, warm = cold_and_warm()
    header = ["first call on the CPU, milliseconds", "cold cache", "warm cache"]
    print(markdown(header, [["saxpy", f"{cold:.0f}", f"{warm:.0f}"]]))


if __name__ == "__main__":
    first_call() if sys.argv[1:] == ["first-call"] else main()
