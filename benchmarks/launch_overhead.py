"""Cost of a launch on a CUDA device, against a handler written by hand with nvcc.

Both launch the same saxpy kernel: from an unrolled function and from a fori_loop, with
command buffers (CUDA graphs) as XLA enables them by default and without; then over
2**28 floats, as bandwidth, beside a device copy. Needs nvcc and a CUDA device.

XLA calls a handler's initialize stage, if there is one, once per custom call in every
execution of a program. `staged` is the handwritten handler with an empty one; ours has
none.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from _timing import interleaved, machine, markdown

import jax_rawcuda as rc

HERE = Path(__file__).parent
UNROLLED = 200
LOOPS = 200
PER_LOOP = 5  # XLA records a graph from five launches in a row
SMALL = 256
LARGE = 2**28

ours = rc.kernel(
    r"""
extern "C" __global__ void saxpy(const float* __restrict__ x,  // f32[n]
                                 const float* __restrict__ y,  // f32[n]
                                 float a,
                                 float* __restrict__ out,  // f32[n]
                                 long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}""",
    shapes="n, n -> n",
    threads="n",
    block=256,
)


def handwritten(target, x, y, a):
    """Calls the handler of handwritten.cu."""
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.ffi.ffi_call(target, spec)(x, y, a=np.float32(a))


SAXPY = {
    "ours": ours,
    "handwritten": functools.partial(handwritten, "handwritten_saxpy"),
    "staged": functools.partial(handwritten, "handwritten_staged"),
}


def build(folder):
    """Compiles handwritten.cu into `folder`; returns the library."""
    library = folder / "libhandwritten.so"
    include = f"-I{jax.ffi.include_dir()}"
    flags = [
        "-O3",
        "-std=c++17",
        "-arch=native",
        "-shared",
        "-Xcompiler",
        "-fPIC",
        "-w",
    ]
    command = [
        "nvcc",
        *flags,
        include,
        str(HERE / "handwritten.cu"),
        "-o",
        str(library),
    ]
    subprocess.run(command, check=True)
    return library


def unrolled(name):
    """Returns a jitted chain of launches without a loop."""

    def chain(x, y):
        for _ in range(UNROLLED):
            x = SAXPY[name](x, y, 0.5)
        return x

    chain.__name__ = f"unrolled_{name}"
    return jax.jit(chain)


def looped(name):
    """Returns a jitted fori_loop over short chains of launches."""

    def body(_, carry):
        x, y = carry
        for _ in range(PER_LOOP):
            x = SAXPY[name](x, y, 0.5)
        return x, y

    def loop(x, y):
        return jax.lax.fori_loop(0, LOOPS, body, (x, y))[0]

    loop.__name__ = f"looped_{name}"
    return jax.jit(loop)


def measure_launches():
    """Returns microseconds per launch, by form and by author."""
    x, y = jax.random.normal(jax.random.key(0), (2, SMALL))
    result = {}
    for form, make, count in (
        ("unrolled", unrolled, UNROLLED),
        ("fori_loop", looped, LOOPS * PER_LOOP),
    ):
        jitted = {name: make(name) for name in SAXPY}
        expected = jitted["handwritten"](x, y)
        for f in jitted.values():
            np.testing.assert_allclose(f(x, y), expected, rtol=1e-6)
        calls = {name: lambda f=f: f(x, y) for name, f in jitted.items()}
        medians = interleaved(calls, rounds=31)
        result[form] = {name: 1e6 * t / count for name, t in medians.items()}
    return result


def measure_bandwidth():
    """Returns gigabytes per second of saxpy and of a copy."""
    x, y = (jnp.full(LARGE, v, jnp.float32) for v in (1.0, 2.0))
    names = ("ours", "handwritten")
    jitted = {n: jax.jit(lambda x, y, f=SAXPY[n]: f(x, y, 0.5)) for n in names}
    copy = jax.jit(jnp.copy)
    calls = {name: lambda f=f: f(x, y) for name, f in jitted.items()}
    medians = interleaved({**calls, "copy": lambda: copy(x)}, rounds=15)
    arrays = {"ours": 3, "handwritten": 3, "copy": 2}
    return {name: 4e-9 * LARGE * arrays[name] / t for name, t in medians.items()}


def recorded(dump):
    """Returns, by function, whether its last thunk list has a command buffer."""
    found = {}
    for path in sorted(Path(dump).glob("*thunk*")):
        for form in ("unrolled", "looped"):
            for name in SAXPY:
                if f"{form}_{name}" in path.name:
                    text = path.read_text(errors="replace").lower()
                    hit = "kcommandbuffer" in text or "command_buffer" in text
                    key = f"{form}_{name}"
                    found[key] = found.get(key, False) or hit
    return found


def child(library, bandwidth):
    """Measures in this process, prints JSON."""
    symbols = ctypes.CDLL(library)
    execute = jax.ffi.pycapsule(symbols.HandwrittenSaxpy)
    initialize = jax.ffi.pycapsule(symbols.HandwrittenInitialize)
    jax.ffi.register_ffi_target("handwritten_saxpy", execute, platform="CUDA")
    stages = {"initialize": initialize, "execute": execute}
    jax.ffi.register_ffi_target("handwritten_staged", stages, platform="CUDA")
    result = {"launches": measure_launches(), "machine": machine()}
    if bandwidth:
        result["bandwidth"] = measure_bandwidth()
    print(json.dumps(result))


def in_subprocess(library, dump, flags, bandwidth):
    """Runs `child` under XLA flags."""
    flags = [os.environ.get("XLA_FLAGS", ""), f"--xla_dump_to={dump}", *flags]
    command = [sys.executable, __file__, "--library", str(library)]
    done = subprocess.run(
        command + ["--bandwidth"] * bandwidth,
        env={**os.environ, "XLA_FLAGS": " ".join(flags)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result = json.loads(done.stdout.splitlines()[-1])
    return {**result, "recorded": recorded(dump)}


def main():
    with tempfile.TemporaryDirectory() as folder:
        library = build(Path(folder))
        runs = {
            "on": in_subprocess(library, f"{folder}/on", [], bandwidth=True),
            "off": in_subprocess(
                library, f"{folder}/off", ["--xla_gpu_enable_command_buffer="], False
            ),
        }
    rows = []
    for state, run in runs.items():
        for form, times in run["launches"].items():
            key = {"unrolled": "unrolled", "fori_loop": "looped"}[form]
            seen = {name: run["recorded"].get(f"{key}_{name}") for name in SAXPY}
            texts = [f"{time:.2f}" for time in times.values()]
            ratios = [times["ours"] / times[n] for n in ("handwritten", "staged")]
            texts += [f"{ratio:.2f}" for ratio in ratios]
            graph = "yes" if seen["ours"] else "no"
            rows.append([f"{form}, command buffers {state}", *texts, graph])
    header = [
        "microseconds per launch",
        "ours",
        "handwritten",
        "handwritten, staged",
        "ours / handwritten",
        "ours / staged",
        "in a CUDA graph",
    ]
    bandwidth = runs["on"]["bandwidth"]
    print(runs["on"]["machine"], "\n")
    print(markdown(header, rows), "\n")
    print(
        markdown(
            ["saxpy over 2^28 floats", "GB/s", "of the copy"],
            [
                [name, f"{rate:.0f}", f"{rate / bandwidth['copy']:.2f}"]
                for name, rate in bandwidth.items()
            ],
        )
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", help="measure with this library, print JSON")
    parser.add_argument("--bandwidth", action="store_true")
    arguments = parser.parse_args()
    if arguments.library:
        child(arguments.library, arguments.bandwidth)
    else:
        main()
