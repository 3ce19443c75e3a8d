"""cuRAND's device header, where its wheel is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from corpus.test_kernels_numbers import philox_reference
from support.launching import launch

import jax_rawcuda as rc


def include_dirs():
    spec = importlib.util.find_spec("nvidia")
    folders = spec.submodule_search_locations if spec else ()
    found = (
        p for f in folders or () for p in Path(f).glob("*/include/curand_kernel.h")
    )
    return tuple(str(path.parent) for path in found)[:1]


pytestmark = pytest.mark.skipif(not include_dirs(), reason="needs nvidia-curand")
N = 2000
SOURCE = """
#include <curand_kernel.h>
extern "C" __global__ void words(unsigned long long seed, uint4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, i, 8, &state);
  y[i] = curand4(&state);
}
template <typename State>
__global__ void numbers(unsigned long long seed, float* uniform, double* normal,
                        int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  State state;
  curand_init(seed, i, 0, &state);
  uniform[i] = curand_uniform(&state);
  normal[i] = curand_normal_double(&state);
}
"""


def run(device, name, out, **config):
    seed = 0x1234_5678_9ABC_DEF0
    return launch(
        device, SOURCE, name, seed, N, out=out, grid=-(-N // 128), block=128,
        options=rc.NvrtcOptions(include_dirs=include_dirs()), **config,
    )  # fmt: skip


def test_words_of_philox(device):
    got = run(device, "words", [((N, 4), np.uint32)])
    # A sequence is the upper half of the counter, four words are a step of the lower.
    counters = np.zeros((N, 4), np.uint32)
    counters[:, 0], counters[:, 2] = 2, np.arange(N)
    np.testing.assert_array_equal(
        got, philox_reference(counters, [0x9ABCDEF0, 0x12345678])
    )


@pytest.mark.parametrize(
    "state",
    ["curandStateXORWOW_t", "curandStateMRG32k3a_t", "curandStatePhilox4_32_10_t"],
)
def test_distributions(device, state):
    uniform, normal = run(
        device, "numbers", [(N, np.float32), (N, np.float64)], template=state
    )
    # Five standard errors.
    assert (uniform > 0).all()
    assert (uniform <= 1).all()
    assert abs(uniform.mean() - 0.5) < 5 * 12**-0.5 / N**0.5
    assert abs(normal.mean()) < 5 / N**0.5
    assert abs(normal.std() - 1) < 5 / (2 * N) ** 0.5
    assert np.unique(uniform).size > 0.99 * N
