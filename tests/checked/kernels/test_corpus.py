"""The corpus of right kernels again, in checked mode: no report, the same values."""

from __future__ import annotations

import pytest
from corpus.test_kernels import *  # noqa: F403
from corpus.test_kernels_numbers import *  # noqa: F403
from corpus.test_kernels_reduce import *  # noqa: F403
from corpus.test_kernels_tiled import *  # noqa: F403

import jax_rawcuda as rc


@pytest.fixture(autouse=True)
def checked():
    with rc.checking():
        yield
