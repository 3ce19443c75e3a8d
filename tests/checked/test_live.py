"""Checked mode in live sessions: their launches are looked into like recorded ones."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc

MODULE = rc.compile_nvrtc(r"""
extern "C" __global__ void half(const float* x, float* y, int first, int n) {
  int i = first + threadIdx.x;
  if (threadIdx.x < n) y[i] = 2.0f * x[i];
}
extern "C" __global__ void beyond(const float* x, float* y, int n) {
  int i = threadIdx.x;
  y[i] = i < n ? x[i + 1] : 0.0f;
}
extern "C" __global__ void scrub(const float* x, float* y, int n) {
  ((float*)x)[threadIdx.x] = y[threadIdx.x] = 0.0f;
}
extern "C" __global__ void add(const float* x, float* y, int n) {
  y[threadIdx.x] += x[threadIdx.x];
}
extern "C" __global__ void reverse(const float* x, float* y, int n) {
  __shared__ float s[32];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[31 - threadIdx.x];
}""")
N = 32


@pytest.fixture(autouse=True)
def on_the_cpu():
    with jax.default_device(jax.devices("cpu")[0]):
        yield


@pytest.fixture
def x():
    return jnp.arange(N, dtype=jnp.float32)


def like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


@rc.live_op(out=like)
def in_halves(s, x, y):
    for first in (0, N // 2):
        kernel, config = MODULE.function("half"), rc.LaunchConfig(1, N)
        s.launch(kernel, config, x, y, first, N // 2)


def one_launch(name):
    @rc.live_op(out=like, name=f"live_{name}")
    def op(s, x, y):
        s.launch(MODULE.function(name), rc.LaunchConfig(1, N), x, y, N)

    return op


BUGS = {
    "beyond": "argument 'x' (float32[32]): out of bounds read of 4 bytes at byte "
    "offset 128 (element 32)",
    "scrub": "argument 'x' (float32[32]): write of 4 bytes at byte offset 0",
    "add": "argument 'y' (float32[32], 'out'): read of 4 bytes at byte offset 0 "
    "(element 0) that nothing has written",
    "reverse": "shared memory 's' (128 bytes): ",
}


@pytest.mark.parametrize("name", BUGS)
def test_an_eager_call_raises_at_once(x, name):
    with rc.checking(), pytest.raises(rc.CheckError) as caught:
        one_launch(name)(x)
    assert str(caught.value).startswith(f"{name}: check failed: {BUGS[name]}")


@pytest.mark.parametrize("name", BUGS)
def test_a_jitted_call_raises_when_it_is_waited_for(x, name):
    with pytest.raises(rc.CheckError) as caught, rc.checking():
        jax.block_until_ready(jax.jit(one_launch(name))(x))
    assert str(caught.value).startswith(f"{name}: check failed: {BUGS[name]}")


@pytest.mark.parametrize("jit", [lambda f: f, jax.jit])
def test_launches_that_write_a_result_together(x, jit):
    with rc.checking():
        np.testing.assert_array_equal(jit(in_halves)(x), 2 * x)


def test_without_the_mode_nothing_is_checked(x):
    # The write through const is left out: it would change what XLA holds.
    op = one_launch("add")
    with rc.checking(), pytest.raises(rc.CheckError):
        op(x)
    assert op(x).shape == (N,)


def test_in_place_and_retained(x):
    @rc.live_op(in_out="total")
    def accumulate(s, x, total):
        kept = s.retain_tensor(x)
        for _ in range(3):
            config = rc.LaunchConfig(1, N)
            s.launch(MODULE.function("add"), config, s.tensor(kept), total, N)

    with rc.checking():
        np.testing.assert_array_equal(accumulate(x, jnp.ones(N)), 1 + 3 * x)
