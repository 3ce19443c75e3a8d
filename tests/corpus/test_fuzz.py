"""Random kernels on the CPU against digests recorded on a GPU."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from support.fuzz import kernels as _fuzz
from support.fuzz import run as fuzz
from support.paths import DATA

RECORDED = np.load(DATA / "fuzz.npz")
TOGETHER = 5
SEEDS = [
    seed
    for start in (0, _fuzz.RICH)
    for seed in range(start, start + 40)
    if seed < len(RECORDED["digests"])
]


@pytest.mark.parametrize("first", SEEDS[::TOGETHER])
def test_results_are_the_gpus(first):
    seeds = range(first, first + TOGETHER)
    with jax.default_device(jax.devices("cpu")[0]):
        results = fuzz.run(seeds)
    got = [fuzz.digest(words) for words in results]
    assert got == RECORDED["digests"][first : first + TOGETHER].tolist()


def test_kernels_are_those_that_were_recorded():
    sources = [_fuzz.fingerprint(seed) for seed in SEEDS]
    assert sources == RECORDED["sources"][SEEDS].tolist()


def test_kernels_are_different():
    seeds = [*range(100), *range(_fuzz.RICH, _fuzz.RICH + 100)]
    assert len({_fuzz.generate(seed).source for seed in seeds}) == len(seeds)


def test_kernels_of_all_kinds_are_the_same_on_every_run():
    seeds = range(_fuzz.RICH, _fuzz.RICH + 3)
    with jax.default_device(jax.devices("cpu")[0]):
        first, second = (fuzz.run(seeds) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
