"""Runs random kernels: several in one module, all of them in one program."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import jax
import numpy as np
from support.fuzz.kernels import GRID, TOTALS, generate, preamble

import jax_rawcuda as rc


def compile_together(seeds: Sequence[int]) -> rc.Module:
    """Compiles kernels as one source."""
    sources = [generate(seed).source for seed in seeds]
    return rc.compile_nvrtc(preamble(seeds) + "".join(sources))


def run(seeds: Sequence[int]) -> list[np.ndarray]:
    """Returns, per seed, u32 words: the totals and then the threads' results."""
    programs = [generate(seed) for seed in seeds]
    module = compile_together(seeds)
    kernels = [
        rc.kernel(
            module,
            program.name,
            out=(),
            launch=rc.LaunchConfig(grid=GRID, block=program.block),
            in_out=("totals", "out"),
        )
        for program in programs
    ]

    @jax.jit
    def everything(arguments):
        return [kernel(*a) for kernel, a in zip(kernels, arguments, strict=True)]

    arguments = [
        (
            program.input(seed),
            np.zeros(TOTALS, np.uint32),
            np.zeros((GRID * program.block, program.words), np.uint32),
        )
        for seed, program in zip(seeds, programs, strict=True)
    ]
    results = everything(arguments)
    return [np.concatenate([np.ravel(x) for x in pair]) for pair in results]


def digest(words: np.ndarray) -> int:
    """Returns 64 bits of a hash of the words."""
    return int.from_bytes(hashlib.sha256(words.tobytes()).digest()[:8], "little")
