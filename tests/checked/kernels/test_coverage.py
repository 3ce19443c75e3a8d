"""The coverage kernels and the examples again, in checked mode: no report is due."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from support.paths import TESTS

QUICK = ["atomics", "integers", "language", "warp"]
OPTIONS = ["-q", "-m", "not gpu", "-p", "no:cacheprovider"]
LONG = [
    "clusters",
    "cub",
    "curand",
    "groups",
    "mma",
    "pipelines",
    "std",
    "tiles",
    "wmma",
]


def file_of(name):
    """Returns the test file of one topic."""
    (path,) = [
        *TESTS.glob(f"cuda/*/test_{name}.py"),
        *TESTS.glob(f"package/test_{name}.py"),
    ]
    return str(path)


def run_checked(*files):
    """Runs tests in a process of their own, all of whose kernels are checked."""
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, *files],
        cwd=TESTS,
        env={**os.environ, "JAX_RAWCUDA_CHECK": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-1000:]
    if " passed" not in result.stdout:  # such as without the headers of cuRAND
        pytest.skip("all of them were skipped")


def test_quick_ones():
    run_checked(*map(file_of, QUICK))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [*LONG, "examples"])
def test_the_others(name, request):
    if "slow" not in request.config.option.markexpr:
        pytest.skip("takes minutes: ask for it with -m slow")
    run_checked(file_of(name))
