"""Runs CUDA C++ on the CPU without JAX: source, PTX, machine code, launch."""

from __future__ import annotations

import functools
import struct

import numpy as np
import pytest

from jax_rawcuda import _ffi, cpu
from jax_rawcuda._base.errors import RawCudaError

# Precedes every source, on its first line.
PREAMBLE = 'extern "C" __global__ void k'


def run(source, *arrays, grid=1, block=32, shared_mem_bytes=0, cluster=(0, 0, 0)):
    """Runs kernel `k` of a CUDA source on copies of the arrays; returns them."""
    copies = [np.array(array, order="C") for array in arrays]
    launch(
        cpu.load_kernel(compile_ptx(source), "k"),
        *copies,
        grid=grid,
        block=block,
        shared_mem_bytes=shared_mem_bytes,
        cluster=cluster,
    )
    return copies


def fault(source, *arrays, **geometry):
    """Runs a kernel that fails; returns what is reported."""
    with pytest.raises(RawCudaError) as caught:
        run(source, *arrays, **geometry)
    return str(caught.value)


def launch(kernel, *arguments, grid=1, block=32, **geometry):
    """Launches a loaded kernel on arrays, in place, and on NumPy scalars."""
    parameters = bytearray(kernel.param_bytes)
    for argument, (offset, size) in zip(arguments, kernel.params, strict=True):
        data = (
            struct.pack("<Q", argument.ctypes.data)
            if isinstance(argument, np.ndarray)
            else argument.tobytes()
        )
        assert len(data) == size
        parameters[offset : offset + size] = data
    extents = [
        tuple(int(n) for n in (*np.atleast_1d(size), 1, 1)[:3])
        for size in (grid, block)
    ]
    _ffi.launch_host_kernel(kernel, bytes(parameters), *extents, **geometry)


@functools.cache
def compile_ptx(source):
    return cpu.compile_source(
        PREAMBLE + source.strip(),
        program_name="k.cu",
        std=None,
        defines={},
        include_dirs=(),
        headers={},
        fast_math=False,
        name_expressions=(),
    ).ptx


def zeros(n):
    return np.zeros(n, np.int32)
