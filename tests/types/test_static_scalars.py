"""Scalars that compare equal but differ in type or sign never share an executable."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc

BITS = r"""
template <typename T, typename U>
__global__ void bits(T value, U* out) { out[0] = *reinterpret_cast<U*>(&value); }

extern "C" __global__ void pick_int(int value, int* out) { out[0] = value; }
extern "C" __global__ void sign(float value, float* out) { out[0] = 1.0f / value; }
"""


def call(name, out, template=None):
    return rc.kernel(
        BITS,
        name,
        out=jax.ShapeDtypeStruct((1,), out),
        launch=rc.LaunchConfig(1, 1),
        template=template,
    )


@pytest.fixture(params=["eager", "jit"])
def mode(request):
    def run(kernel, value):
        if request.param == "eager":
            return kernel(value)
        return jax.jit(lambda: kernel(value))()

    return run


def test_zeros_of_both_signs(mode):
    sign = call("sign", jnp.float32)
    assert mode(sign, 0.0)[0] == np.inf
    assert mode(sign, -0.0)[0] == -np.inf
    assert mode(sign, 0.0)[0] == np.inf


def test_equal_numbers_of_other_types(mode):
    as_float = call("bits", jnp.uint32, ("float", "unsigned int"))
    as_int = call("bits", jnp.uint32, ("int", "unsigned int"))
    one = np.float32(1).view(np.uint32)
    for value in (1, 1.0, np.int8(1), np.float16(1)):
        assert mode(as_float, value)[0] == one
        assert mode(as_int, value)[0] == 1
    assert mode(as_int, True)[0] == 1
    assert mode(as_int, 4)[0] == 4
    assert mode(as_int, 4.0)[0] == 4


def test_one_jit_holds_both():
    as_float = call("bits", jnp.uint32, ("float", "unsigned int"))
    as_int = call("bits", jnp.uint32, ("int", "unsigned int"))
    got = jax.jit(lambda: (as_float(1), as_int(1), as_float(0.0), as_float(-0.0)))()
    assert [int(x[0]) for x in got] == [0x3F800000, 1, 0, 0x80000000]


def test_nan_payload_does_not_break_the_cache(mode):
    sign = call("sign", jnp.float32)
    assert np.isnan(mode(sign, float("nan"))[0])
    assert np.isnan(mode(sign, float("nan"))[0])
