"""Sessions on a GPU: waiting among command buffers; memory over many programs."""

from __future__ import annotations

import functools
import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.process import run_python

import jax_rawcuda as rc
from jax_rawcuda import _ffi

pytestmark = pytest.mark.gpu

SCALE = rc.kernel(
    """
__global__ void scale(const float* x, float* out, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i];
}""",
    shapes="n -> n",
    threads="n",
)

# Runs in a process of its own: XLA reads its flags once.
AMONG_GRAPHS = """
    import jax, jax.numpy as jnp, numpy as np
    import jax_rawcuda as rc
    from session.test_session_gpu import SCALE

    @rc.op
    def waits(s, x):
        first, out = (s.alloc_output(x.shape, x.dtype) for _ in range(2))
        config = rc.LaunchConfig.flat(x.size, 256)
        s.launch(SCALE.module.function("scale"), config, x, first, 2.0, x.size)
        s.synchronize()
        s.launch(SCALE.module.function("scale"), config, first, out, 0.5, x.size)
        return out

    def step(x):
        for _ in range(6):
            x = SCALE(x, 1.5)
        x = waits(x)
        for _ in range(6):
            x = SCALE(x, 1 / 1.5)
        return waits(x) + 1

    program = jax.jit(lambda x: jax.lax.fori_loop(0, 5, lambda _, x: step(x), step(x)))
    x = jnp.arange(1000, dtype=jnp.float32)
    for i in range(4):  # the first runs are not recorded
        np.testing.assert_allclose(program(x + i), x + i + 6, rtol=1e-5)
    print("right")
"""


@pytest.mark.parametrize("flags", ["", "--xla_gpu_graph_min_graph_size=1"])
def test_synchronize_among_command_buffers(flags, tmp_path):
    """The ops around the wait become graphs; the wait stays outside of them."""
    kinds = "--xla_gpu_enable_command_buffer=FUSION,CUBLAS,CUSTOM_CALL,WHILE"
    flags = f"{kinds} {flags} --xla_dump_to={tmp_path}"
    assert run_python(AMONG_GRAPHS, XLA_FLAGS=flags).stdout == "right\n"


def current_context():
    from cuda.bindings import driver

    error, context = driver.cuCtxGetCurrent()
    assert error == driver.CUresult.CUDA_SUCCESS
    return int(context)


def test_the_context_is_restored():
    @rc.op
    def good(s, x):
        return SCALE(x, 3.0)

    @rc.op
    def failing(s, x):
        raise ValueError("of the callback")

    @rc.live_op(out=jax.ShapeDtypeStruct((8,), jnp.float32))
    def failing_live(s, x, out):
        raise ValueError("of the live callback")

    x = jax.block_until_ready(jnp.arange(8, dtype=jnp.float32))
    before = current_context()
    np.testing.assert_array_equal(good(x), 3 * x)
    assert current_context() == before
    with pytest.raises(ValueError, match="of the callback"):
        failing(x)
    assert current_context() == before
    with pytest.raises(jax.errors.JaxRuntimeError, match="of the live callback"):
        jax.block_until_ready(failing_live(x))
    assert current_context() == before
    np.testing.assert_array_equal(good(x), 3 * x)


def free_bytes():
    from cuda.bindings import driver

    jax.block_until_ready(jnp.zeros(1))
    error, free, _ = driver.cuMemGetInfo()
    assert error == driver.CUresult.CUDA_SUCCESS
    return free


@functools.cache
def table_module():
    return rc.compile_nvrtc("""
__device__ float table[1 << 18];  // 1 MiB of every library
__device__ int offset;
__global__ void k(const float* x, float* out) {
  out[0] = x[0] + offset + table[threadIdx.x];
}""")


def one_program(i, x):
    """Compiles, runs and drops a program with a library of its own."""
    module = table_module().global_("offset").set(i)
    k = rc.kernel(module, shapes="1 -> 1", threads=1, block=1)
    program = jax.jit(lambda x: k(x)).lower(x).compile()
    assert float(program(x)[0]) == i + 1


def test_a_thousand_programs_leave_nothing_behind():
    x = jnp.ones(1)
    counted = {}

    def cycle(numbers):
        for i in numbers:
            one_program(i, x)
            if i % 50 == 49:
                jax.clear_caches()
                rc.clear_caches()
        gc.collect()

    cycle(range(50))  # what the process keeps for good
    counted["before"], free = _ffi.counters(), free_bytes()
    cycle(range(50, 1050))
    after = _ffi.counters()
    assert after["live"] == counted["before"]["live"]
    assert after["images"] == counted["before"]["images"]
    loads = after["library_load"] - counted["before"]["library_load"]
    unloads = after["library_unload"] - counted["before"]["library_unload"]
    assert loads == unloads == 1000
    # A thousand modules of 1 MiB would be 1 GiB.
    assert free - free_bytes() < 32 << 20
    np.testing.assert_array_equal(SCALE(x, 2.0), [2])
