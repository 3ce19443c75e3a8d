"""Cost of many launches: one op, one kernel call each, and one handwritten handler.

The same saxpy, 20 times in a row, as one `rc.op`, as 20 calls of an `rc.kernel`, and as
one XLA FFI handler written by hand with nvcc; ten such chains per program, with command
buffers (CUDA graphs) as XLA enables them by default and without. Needs nvcc and a CUDA
device.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import jax
import numpy as np
from _timing import interleaved, machine, markdown
from launch_overhead import build, ours

import jax_rawcuda as rc

LAUNCHES = 20  # per chain
CHAINS = 10  # per program
SIZE = 256


@rc.op
def one_op(s, x, y):
    """The chain as one op; the buffer that is not returned is a workspace."""
    saxpy = ours.module.function("saxpy")
    config = rc.LaunchConfig.flat(x.size, 256)
    buffers = [s.alloc_output(x.shape, x.dtype) for _ in range(2)]
    for i in range(LAUNCHES):
        s.launch(saxpy, config, x, y, 0.5, buffers[i % 2], x.size)
        x = buffers[i % 2]
    return x


def kernel_calls(x, y):
    """The chain as one call of the primitive per launch."""
    for _ in range(LAUNCHES):
        x = ours(x, y, 0.5)
    return x


def handwritten(x, y):
    """The chain as one handler of handwritten.cu."""
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    call = jax.ffi.ffi_call("handwritten_chain", (spec, spec))
    return call(x, y, a=np.float32(0.5), count=np.int32(LAUNCHES))[0]


FORMS = {"op": one_op, "kernel calls": kernel_calls, "handwritten": handwritten}


def program(chain):
    """Returns a jitted function of several chains."""

    def run(x, y):
        for _ in range(CHAINS):
            x = chain(x, y)
        return x

    return jax.jit(run)


def child(library):
    """Measures in this process; prints microseconds per launch as JSON."""
    execute = jax.ffi.pycapsule(ctypes.CDLL(library).HandwrittenChain)
    jax.ffi.register_ffi_target("handwritten_chain", execute, platform="CUDA")
    x, y = jax.random.normal(jax.random.key(0), (2, SIZE))
    jitted = {name: program(chain) for name, chain in FORMS.items()}
    expected = jitted["handwritten"](x, y)
    for f in jitted.values():
        np.testing.assert_allclose(f(x, y), expected, rtol=1e-6)
    calls = {name: lambda f=f: f(x, y) for name, f in jitted.items()}
    medians = interleaved(calls, rounds=51)
    count = LAUNCHES * CHAINS
    times = {name: 1e6 * seconds / count for name, seconds in medians.items()}
    print(json.dumps({"times": times, "machine": machine()}))


def in_subprocess(library, flags):
    """Runs `child` under XLA flags."""
    flags = " ".join([os.environ.get("XLA_FLAGS", ""), *flags])
    done = subprocess.run(
        [sys.executable, __file__, "--library", str(library)],
        env={**os.environ, "XLA_FLAGS": flags},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def main():
    with tempfile.TemporaryDirectory() as folder:
        library = build(Path(folder))
        runs = {
            "on": in_subprocess(library, []),
            "off": in_subprocess(library, ["--xla_gpu_enable_command_buffer="]),
        }
    header = ["microseconds per launch", *FORMS, "op / handwritten", "op / calls"]
    rows = []
    for state, run in runs.items():
        times = run["times"]
        ratios = [times["op"] / times[n] for n in ("handwritten", "kernel calls")]
        texts = [f"{value:.2f}" for value in (*times.values(), *ratios)]
        rows.append([f"command buffers {state}", *texts])
    print(runs["on"]["machine"], "\n")
    print(markdown(header, rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", help="measure with this library, print JSON")
    arguments = parser.parse_args()
    if arguments.library:
        child(arguments.library)
    else:
        main()
