"""Registers that are computed again after a sync point, instead of being kept."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from support.cpu_runner import PREAMBLE, compile_ptx
from support.paths import KERNELS
from support.process import run_python

import jax_rawcuda as rc
from jax_rawcuda import cpu
from jax_rawcuda.cpu.translate import translate

# Body of `k(const int* x, int* out, int n)`, and the bytes per thread that it must keep
# across its barriers.
CASES = {
    "index and addresses": (
        """int i = blockIdx.x * blockDim.x + threadIdx.x;
           s[threadIdx.x] = x[i]; __syncthreads();
           out[i] = s[blockDim.x - 1 - threadIdx.x] + n;""",
        0,
    ),
    "a value from memory": (
        """int i = blockIdx.x * blockDim.x + threadIdx.x;
           int v = x[i]; s[threadIdx.x] = v; __syncthreads();
           out[i] = s[blockDim.x - 1 - threadIdx.x] + v;""",
        4,
    ),
    "a value that depends on the branch taken": (
        """int i = blockIdx.x * blockDim.x + threadIdx.x;
           int v = threadIdx.x; if (x[i] > 0) v = 2 * v + n;
           s[threadIdx.x] = v; __syncthreads();
           out[i] = s[blockDim.x - 1 - threadIdx.x] + v;""",
        4,
    ),
    "a loop counter": (
        """int i = blockIdx.x * blockDim.x + threadIdx.x, v = 0;
           for (int k = 1; k <= n; k++) {
             s[threadIdx.x] = v + k * x[i]; __syncthreads();
             v = s[(threadIdx.x + k) % blockDim.x]; __syncthreads();
           }
           out[i] = v;""",
        None,
    ),
}


def body_of(name):
    return (
        f"(const int* x, int* out, int n) {{ __shared__ int s[64]; {CASES[name][0]} }}"
    )


def expected(name, x, n):
    t = np.arange(64)
    back = slice(None, None, -1)
    if name == "index and addresses":
        return x[:, back] + n
    if name == "a value from memory":
        return x[:, back] + x
    if name == "a value that depends on the branch taken":
        v = np.where(x > 0, 2 * t + n, t)
        return v[:, back] + v
    v = np.zeros_like(x)
    for k in range(1, n + 1):
        v = np.roll(v + k * x, -k, axis=1)
    return v


@pytest.mark.parametrize("name", CASES)
def test_values_stay(name):
    kernel = rc.kernel(
        PREAMBLE + body_of(name),
        shapes="m -> m",
        launch=rc.LaunchConfig(grid=3, block=64),
    )
    x = np.random.default_rng(4).integers(-9, 9, (3, 64)).astype(np.int32)
    operand = jax.device_put(x.reshape(-1), jax.devices("cpu")[0])
    got = np.asarray(jax.jit(lambda x: kernel(x, 5))(operand))
    np.testing.assert_array_equal(got.reshape(3, 64), expected(name, x, 5))


@pytest.mark.parametrize(
    "name", [n for n, case in CASES.items() if case[1] is not None]
)
def test_bytes_kept(name):
    ptx = compile_ptx(body_of(name))
    assert translate(ptx, "k").slot_bytes == CASES[name][1]


def test_the_order_of_a_set_decides_nothing(tmp_path):
    # The compiled code is cached by its text; in this kernel the regions overlap.
    source = (KERNELS / "groups.cu").read_text()
    ptx = tmp_path / "k.ptx"
    ptx.write_text(cpu.compile_source(source, program_name="groups.cu").ptx)
    program = """
      import hashlib, pathlib, sys
      from jax_rawcuda.cpu.translate import translate
      ir = translate(pathlib.Path(sys.argv[1]).read_text(), "handed_on").ir
      print(hashlib.sha256(ir.encode()).hexdigest())"""
    first, second = (
        run_python(program, ptx, PYTHONHASHSEED=seed).stdout for seed in "12"
    )
    assert first == second
