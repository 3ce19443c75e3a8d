"""What the tests of the raw-session model share: a kernel, a geometry, an operand."""

from __future__ import annotations

import numpy as np
import pytest

import jax_rawcuda as rc

AXPY = r"""
extern "C" __global__ void axpy(const float* x, float a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + 1;
}
"""
FLAT = rc.LaunchConfig.flat(8, 32)


@pytest.fixture
def x(rng):
    return rng.standard_normal(8, np.float32)
