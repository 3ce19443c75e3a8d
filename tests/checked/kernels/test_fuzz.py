"""Random kernels in checked mode: no report, and the digests of a GPU."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from support.fuzz import run as fuzz
from support.paths import DATA

import jax_rawcuda as rc

RECORDED = np.load(DATA / "fuzz.npz")["digests"]
BASIC = (3, 17, 29)
RICH = (2041, 2048, 2052)  # with swaps in loops whose first read is plain


@pytest.mark.parametrize("seeds", [BASIC, RICH], ids=["basic", "rich"])
def test_a_random_kernel_gives_no_report(seeds):
    with jax.default_device(jax.devices("cpu")[0]), rc.checking():
        results = fuzz.run(seeds)
    got = [fuzz.digest(words) for words in results]
    assert got == [RECORDED[seed] for seed in seeds]
