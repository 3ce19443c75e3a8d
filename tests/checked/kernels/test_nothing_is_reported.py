"""Right kernels again, checked: nothing is reported, and their values stay right."""

from __future__ import annotations

import sys

import jax
import numpy as np
import pytest
from support.fuzz import run as fuzz
from support.paths import DATA, TESTS
from support.process import run_command

import jax_rawcuda as rc

pytestmark = pytest.mark.timeout(900)
QUICK = {
    "corpus": """
        corpus/test_kernels corpus/test_kernels_numbers corpus/test_kernels_reduce
        corpus/test_kernels_tiled
    """,
    "cuda": """
        cuda/threads/test_atomics cuda/threads/test_warp cuda/language/test_integers
        cuda/language/test_language
    """,
}
TAKE_MINUTES = """
    cuda/threads/test_clusters cuda/threads/test_groups cuda/threads/test_mma
    cuda/threads/test_pipelines cuda/threads/test_tiles cuda/threads/test_wmma
    cuda/language/test_cub cuda/language/test_curand cuda/language/test_std
    package/test_examples
"""


def run_checked(files):
    """Runs tests in a process of their own, all of whose kernels are checked."""
    paths = [TESTS / f"{file}.py" for file in files]
    options = ["-q", "-m", "not gpu", "-p", "no:cacheprovider"]
    ended = run_command(
        *(sys.executable, "-m", "pytest", *options, *paths),
        timeout=880,
        JAX_RAWCUDA_CHECK="1",
        PYTEST_ADDOPTS="",
    )
    if " passed" not in ended.stdout:  # such as without the headers of cuRAND
        pytest.skip("all of them were skipped")


@pytest.mark.parametrize("files", QUICK)
def test_about_right_kernels(files):
    run_checked(QUICK[files].split())


@pytest.mark.slow
@pytest.mark.parametrize("file", TAKE_MINUTES.split())
def test_about_large_kernels(file, request):
    if "slow" not in request.config.option.markexpr:
        pytest.skip("takes minutes: ask for it with -m slow")
    run_checked([file])


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param((3, 17, 29), id="basic"),
        # With swaps in loops whose first read is plain.
        pytest.param((2041, 2048, 2052), id="rich"),
    ],
)
def test_about_random_kernels(seeds):
    recorded = np.load(DATA / "fuzz.npz")["digests"]
    with jax.default_device(jax.devices("cpu")[0]), rc.checking():
        results = fuzz.run(seeds)
    got = [fuzz.digest(words) for words in results]
    assert got == [recorded[seed] for seed in seeds]
