"""Plans written by hand, with kernels for the CUDA device of this machine."""

from __future__ import annotations

import functools
import re
import struct

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.plan_bytes import (
    CUBIN,
    call,
    encode,
    function,
    launch,
    operand,
    pointer,
    result,
    scalar,
)

N = 1000
SOURCE = r"""
extern "C" __global__ void twice(const float* x, float* out, int n) {
  extern __shared__ float s[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) out[i] = 2 * s[threadIdx.x] + 1;
}
extern "C" __global__ void static_shared(float* out) {
  __shared__ float s[10240];
  extern __shared__ float dynamic[];
  s[threadIdx.x] = threadIdx.x;
  dynamic[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] + dynamic[threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(64) bounded(float* out) { out[0] = 1; }
extern "C" __global__ void cluster_rank(int* out) {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) out[blockIdx.x] = rank;
}
extern "C" __global__ void fault(float* out) { *(volatile float*)8 = out[0]; }
"""


@pytest.fixture(autouse=True)
def _need_a_device():
    if jax.default_backend() != "gpu":
        pytest.skip("no CUDA device")


def compute_capability() -> str:
    return jax.devices("gpu")[0].compute_capability.replace(".", "")


@functools.cache
def compiled(kind: int, source: str = SOURCE) -> bytes:
    from cuda.bindings import nvrtc

    error, program = nvrtc.nvrtcCreateProgram(source.encode(), b"k.cu", 0, [], [])
    assert error == 0
    family = "sm" if kind == CUBIN else "compute"
    options = [f"-arch={family}_{compute_capability()}".encode(), b"-std=c++17"]
    (error,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    assert error == 0
    size_of, get = (
        (nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
        if kind == CUBIN
        else (nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
    )
    _, size = size_of(program)
    image = b" " * size
    get(program, image)
    # NVRTC may write a newer PTX than the driver reads.
    return re.sub(rb"\.version \d+\.\d+", b".version 9.0", image)


def kernel_plan(name, parameters, commands, kind=CUBIN, image=None, **sections):
    return encode(
        commands,
        name=name,
        images=[(kind, compiled(kind) if image is None else image)],
        functions=[function(name, parameters)],
        **sections,
    )


TWICE = [("x", 8), ("out", 8), ("n", 4)]


def twice_plan(n=N, shared_mem_bytes=1024, **sections):
    arguments = [pointer(operand(0)), pointer(result(0)), scalar(struct.pack("<i", n))]
    geometry = {"grid": (-(-n // 256), 1, 1), "block": (256, 1, 1)}
    command = launch(0, arguments, shared_mem_bytes=shared_mem_bytes, **geometry)
    sizes = {"operands": [4 * n], "results": [4 * n]} | sections
    return kernel_plan("twice", TWICE, [command], **sizes)


def like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def twice(x, **kwargs):
    return call(twice_plan(x.size, **kwargs), like(x), x)


def fails(encoded, out, *operands, match):
    with pytest.raises(jax.errors.JaxRuntimeError, match=match):
        jax.block_until_ready(jax.jit(lambda *xs: call(encoded, out, *xs))(*operands))


X = np.arange(N, dtype=np.float32)
ONE = jax.ShapeDtypeStruct((1,), jnp.float32)
