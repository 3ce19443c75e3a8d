"""One launch of a kernel, on any device: NumPy arrays in, NumPy arrays out."""

from __future__ import annotations

import functools

import jax
import numpy as np
from support.paths import KERNELS

import jax_rawcuda as rc


@functools.cache
def module(source, options=None):
    """Compiles a file in `kernels/`, or a text, once for all its kernels."""
    return rc.compile_nvrtc(
        KERNELS / source if source.endswith(".cu") else source, options
    )


def launch(
    device,
    source,
    name,
    *arguments,
    out=(),
    grid=1,
    block=32,
    in_out=(),
    template=None,
    options=None,
    **config,
):
    """Launches a kernel once.

    Args:
      device: A device of JAX.
      source: A file in `kernels/`, or CUDA C++ text.
      name: The kernel.
      *arguments: Arrays, and static scalars.
      out: `(shape, dtype)` of each result that is not in `in_out`, as (64, "f4").
      grid, block: Extents.
      in_out: Names of parameters that are operand and result.
      template: Template arguments.
      options: Of the compiler.
      **config: What else a LaunchConfig takes.

    Returns:
      One array, or a list of them.
    """
    results = [
        jax.ShapeDtypeStruct(tuple(np.atleast_1d(shape)), np.dtype(dtype))
        for shape, dtype in out
    ]
    kernel = rc.kernel(
        module(source, options),
        name,
        out=results[0] if len(results) == 1 else results,
        launch=rc.LaunchConfig(grid, block, **config),
        in_out=in_out,
        template=template,
    )
    arrays = [a for a in arguments if np.ndim(a)]

    def call(*arrays):
        rest = iter(arrays)
        return kernel(*(next(rest) if np.ndim(a) else a for a in arguments))

    with jax.enable_x64(True):
        found = jax.jit(call)(*(jax.device_put(a, device) for a in arrays))
        for result in jax.tree.leaves(found):
            assert result.devices() == {device}
        return jax.tree.map(np.asarray, found)


def launcher(source, **usual):
    """Returns `launch` for the kernels of one source, with a usual configuration."""

    def run(device, name, *arguments, **config):
        return launch(device, source, name, *arguments, **usual | config)

    return run
