"""Random kernels under vmap, bit for bit as in a loop over the elements."""

from __future__ import annotations

import itertools

import jax
import numpy as np
import pytest
from support.fuzz.kernels import GRID, RICH, TOTALS, generate
from support.fuzz.run import compile_together

import jax_rawcuda as rc

TOGETHER = 4
SEEDS = [*range(12), *range(RICH, RICH + 12)]


@pytest.fixture
def device(default_device):
    return default_device


def batch(rng, program, seed, sizes, axes):
    """Operands with some of the axes each, and the elements of a loop."""
    operands = []
    for index, has in enumerate(axes):
        lead = tuple(n for n, h in zip(sizes, has, strict=True) if h)
        if index == 0:
            x = program.input(seed)
            x = np.stack(
                [rng.permuted(x, axis=0) for _ in range(np.prod(lead, dtype=int))]
            )
            operands.append(x.reshape(*lead, *x.shape[1:]))
        else:
            shape = (TOTALS,) if index == 1 else (GRID * program.block, program.words)
            x = rng.integers(0, 1000, (*lead, *shape)).astype(np.uint32)
            operands.append(x)
    return operands


@pytest.mark.parametrize("first", SEEDS[::TOGETHER])
def test_random_subsets_nested_twice(device, first):
    rng = np.random.default_rng(first)
    seeds = range(first, first + TOGETHER)
    module = compile_together(seeds)
    sizes = (2, 3)
    for seed in seeds:
        program = generate(seed)
        kernel = rc.kernel(
            module,
            program.name,
            out=(),
            launch=rc.LaunchConfig(grid=GRID, block=program.block),
            in_out=("totals", "out"),
        )
        axes = rng.integers(0, 2, (3, 2)).astype(bool)
        axes[rng.integers(3), :] = True
        x, totals, out = batch(rng, program, seed, sizes, axes)
        inner = [0 if has[1] else None for has in axes]
        outer = [0 if has[0] else None for has in axes]
        got = jax.jit(jax.vmap(jax.vmap(kernel, inner), outer))(x, totals, out)
        single = jax.jit(kernel)
        for i, j in itertools.product(*map(range, sizes)):
            element = [
                a[tuple(k for k, h in zip((i, j), has, strict=True) if h)]
                for a, has in zip((x, totals, out), axes, strict=True)
            ]
            want = single(*element)
            for a, b in zip(got, want, strict=True):
                np.testing.assert_array_equal(a[i, j], b)
