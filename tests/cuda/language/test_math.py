"""Mathematical functions within the bounds of the CUDA programming guide."""

from __future__ import annotations

import functools

import jax
import numpy as np
import pytest
from support import math_errors as math_errors
from support.launching import launch


@functools.cache
def errors(platform):
    with jax.default_device(jax.devices(platform)[0]):
        return math_errors.measure()


@pytest.mark.parametrize(
    "function",
    [*math_errors.SINGLE, *math_errors.DOUBLE],
    ids=lambda function: function.name,
)
def test_errors_stay_within_the_bounds(device, function):
    if function in math_errors.DOUBLE and np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("long double has no more digits than double here")
    assert errors(device.platform)[function.name] <= function.bound


FAST = r"""
extern "C" __global__ void fast(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], a = fabsf(v);
  float results[] = {__expf(v),       __sinf(v),   __cosf(v),     __logf(a),
                     __log2f(a),      __powf(a, 1.5f), __fdividef(v, 3.0f),
                     __frcp_rn(v),    __fsqrt_rn(a), __frsqrt_rn(a),
                     __saturatef(v),  sinf(1e6f * v), cosf(1e6f * v)};
  for (int k = 0; k < 13; ++k) y[k * n + i] = results[k];
}
"""


def test_fast_and_large(device, rng):
    """Intrinsics that trade digits for speed, and arguments of thousands of turns."""
    n = 1000
    x = rng.uniform(-3, 3, n).astype(np.float32)
    got = launch(
        device, FAST, "fast", x, n, out=[((13, n), np.float32)], grid=8, block=128
    )
    v = x.astype(np.float64)
    a, large = np.abs(v), (np.float32(1e6) * x).astype(np.float64)
    want = [np.exp(v), np.sin(v), np.cos(v), np.log(a), np.log2(a), a**1.5, v / 3]
    want += [1 / v, np.sqrt(a), 1 / np.sqrt(a), np.clip(v, 0, 1)]
    want += [np.sin(large), np.cos(large)]
    np.testing.assert_allclose(got, want, rtol=3e-6, atol=1e-6)
