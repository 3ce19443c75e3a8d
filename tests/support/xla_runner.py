"""Runs CUDA C++ on XLA's threads, below the public interface: PTX, plan, call."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from support.cpu_runner import compile_ptx
from support.plan_bytes import HOST_PTX, call, encode, function, launch, pointer, result


def run(source, *arrays, grid=1, block=32, shared_mem_bytes=0, cluster=(0, 0, 0)):
    """Runs kernel `k` of a CUDA source on copies of the arrays; returns them."""
    arrays = [np.asarray(array) for array in arrays]
    parameters = [(f"p{i}", 8) for i in range(len(arrays))]
    geometry = [(*np.atleast_1d(size), 1, 1)[:3] for size in (grid, block)]
    encoded = encode(
        [
            launch(
                0,
                [pointer(result(i)) for i in range(len(arrays))],
                *(tuple(int(n) for n in extents) for extents in geometry),
                cluster,
                shared_mem_bytes,
            )
        ],
        operands=[array.nbytes for array in arrays],
        results=[array.nbytes for array in arrays],
        images=[(HOST_PTX, compile_ptx(source).encode())],
        functions=[function("k", parameters)],
    )
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]
    with jax.default_device(jax.devices("cpu")[0]):
        results = call(
            encoded, shapes, *arrays, aliases={i: i for i in range(len(arrays))}
        )
        return [np.asarray(r) for r in jax.block_until_ready(results)]


def fault(source, *arrays, **geometry):
    """Runs a kernel that fails; returns what is reported."""
    with pytest.raises(jax.errors.JaxRuntimeError) as caught:
        run(source, *arrays, **geometry)
    return str(caught.value)
