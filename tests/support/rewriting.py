"""Rewritten kernels: made from CUDA C++, launched over a batch, on any device."""

from __future__ import annotations

import functools
import itertools
import math
from typing import NamedTuple

import jax
import numpy as np

import jax_rawcuda as rc
from jax_rawcuda._compile.compilation import compile_program
from jax_rawcuda._compile.compiler import CLANG, nvrtc_for
from jax_rawcuda._compile.program import Program
from jax_rawcuda._device.installed import installed_arch
from jax_rawcuda._rewrite.adaptation import Adaptation
from jax_rawcuda._rewrite.link import link
from jax_rawcuda._rewrite.rewriting import Refusal, Rewritten, rewrite

HEADER = '.version 8.3\n.target sm_90\n.address_size 64\n.file 1 "demo.cu"\n'


class Result(NamedTuple):
    """Stands for the result among arguments: the shape and dtype of one element."""

    shape: tuple[int, ...]
    dtype: str = "float32"


class Static(NamedTuple):
    """Stands for an argument that is passed by value, of this C type."""

    type: str
    value: object


@functools.cache
def compiled(source: str, compiler=CLANG, expressions=(), options=None) -> str:
    """Returns the PTX of CUDA C++."""
    program = Program("k", source, options or rc.NvrtcOptions())
    return compile_program(program, compiler, expressions).ptx


def rewritten(ptx: str, entry: str, adaptation: Adaptation) -> str:
    """Rewrites what can be rewritten."""
    outcome = rewrite(ptx, entry, adaptation)
    assert isinstance(outcome, Rewritten), outcome
    return outcome.ptx


def refusal(ptx: str, entry: str, adaptation: Adaptation) -> str:
    """Returns why something cannot be rewritten."""
    outcome = rewrite(ptx, entry, adaptation)
    assert isinstance(outcome, Refusal), outcome
    return outcome.reason


def function(device, source, entry, adaptation, types):
    """Rewrites a kernel for a device; `source` is CUDA C++ or PTX."""
    is_ptx = source.startswith(".version")
    count = adaptation.appended_count
    listed = ", ".join([*types, *["unsigned long long"] * count])
    signature = f"{entry}({listed})"
    if device.platform == "cpu":
        text = source if is_ptx else compiled(source)
        text = rewritten(text, entry, adaptation)
        return rc.load_ptx(text, signature=signature).function(entry)
    arch = installed_arch()
    text = source if is_ptx else compiled(source, nvrtc_for(arch))
    cubin = link(rewritten(text, entry, adaptation), arch)
    return rc.load_cubin(cubin, signature=signature).function(entry)


def run(
    device,
    source,
    entry,
    adaptation,
    arguments,
    *,
    sizes=(),
    grid=(1, 1),
    block=32,
    lacking=None,
    pieces=(),
    **config,
):
    """Launches a rewritten kernel.

    Args:
      device: A device of JAX.
      source: CUDA C++ or PTX.
      entry: The kernel.
      adaptation: How it is changed.
      arguments: In order: arrays, whose first axes are those of the batch that they
        have; `Result`s; `Static` values.
      sizes: Of the batch axes.
      grid: The user's extents x and y.
      block: Threads.
      lacking: Index of a batched parameter -> the batch axes that it lacks.
      pieces: Where to cut the batch into launches.
      **config: What else a LaunchConfig takes.

    Returns:
      The result, or a list of them, with all batch axes; filled with zeros first.
    """
    strides = {
        index: _strides(arguments[index], sizes, (lacking or {}).get(index, ()))
        for index in adaptation.batched
    }
    changed = function(device, source, entry, adaptation, map(_type, arguments))
    arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
    bounds = [0, *pieces, math.prod(sizes)]

    @rc.op
    def launch(s, *operands):
        given = iter(operands)
        values, results = [], []
        for argument in arguments:
            if isinstance(argument, Result):
                shape = (*sizes, *argument.shape)
                results.append(s.alloc_output(shape, argument.dtype, fill=0))
                values.append(results[-1])
            else:
                static = isinstance(argument, Static)
                values.append(argument.value if static else next(given))
        for start, end in itertools.pairwise(bounds):
            z = (end - start) * adaptation.grid_z
            appended = adaptation.appended(start, sizes, strides)
            launched = rc.LaunchConfig(grid=(*grid, z), block=block, **config)
            s.launch(changed, launched, *values, *appended)
        return results

    placed = (jax.device_put(array, device) for array in arrays)
    results = [np.asarray(result) for result in jax.jit(launch)(*placed)]
    return results[0] if len(results) == 1 else results


def _type(argument) -> str:
    if isinstance(argument, Static):
        return argument.type
    return "void*" if isinstance(argument, Result) else "const void*"


def _strides(argument, sizes, lacking) -> list[int]:
    """The strides, in bytes, of an array that has the other batch axes in front."""
    own = [1 if axis in lacking else size for axis, size in enumerate(sizes)]
    if isinstance(argument, Result):
        element = math.prod(argument.shape) * np.dtype(argument.dtype).itemsize
    else:
        element = argument.nbytes // math.prod(own)
    strides = []
    for axis in reversed(range(len(sizes))):
        strides.insert(0, 0 if axis in lacking else element)
        element *= own[axis]
    return strides
