"""Random kernels on the CPU against digests recorded on a GPU."""

from __future__ import annotations

from pathlib import Path

import _fuzz
import _fuzz_run as fuzz
import jax
import numpy as np
import pytest

RECORDED = np.load(Path(__file__).parent / "data" / "fuzz.npz")
TOGETHER = 5
SEEDS = range(40)


@pytest.mark.parametrize("first", SEEDS[::TOGETHER])
def test_results_are_the_gpus(first):
    seeds = range(first, first + TOGETHER)
    with jax.default_device(jax.devices("cpu")[0]):
        results = fuzz.run(seeds)
    got = [fuzz.digest(words) for words in results]
    assert got == RECORDED["digests"][first : first + TOGETHER].tolist()


def test_kernels_are_those_that_were_recorded():
    sources = [_fuzz.fingerprint(seed) for seed in SEEDS]
    assert sources == RECORDED["sources"][: len(SEEDS)].tolist()


def test_kernels_are_different():
    sources = {_fuzz.generate(seed).source for seed in range(100)}
    assert len(sources) == 100
