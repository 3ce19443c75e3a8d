"""Rules of the user's in place of the batching of plans."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc

SOURCE = """
extern "C" __global__ void scale(const float* x, float a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i];
}"""


def ruled():
    """A kernel whose rule flattens the batch, and the calls that the rule saw."""
    kernel = rc.kernel(SOURCE, shapes="n -> n", threads="n")
    seen = []

    @kernel.def_vmap
    def rule(axis_size, in_batched, x, a):
        seen.append((axis_size, in_batched, x.shape, a))
        return kernel(x.ravel(), a).reshape(x.shape), in_batched[0]

    return kernel, seen


def test_a_kernels_rule_is_asked(rng):
    kernel, seen = ruled()
    x = rng.standard_normal((4, 7)).astype(np.float32)
    got = jax.jit(jax.vmap(lambda x: kernel(x, 3.0)))(x)
    np.testing.assert_array_equal(got, np.float32(3) * x)
    assert seen == [(4, [True, False], (4, 7), 3.0)]


def test_without_vmap_the_rule_is_not_asked(rng):
    kernel, seen = ruled()
    x = rng.standard_normal(5).astype(np.float32)
    np.testing.assert_array_equal(kernel(x, 3.0), np.float32(3) * x)
    assert seen == []


def test_nested_vmaps_ask_the_rule_for_each(rng):
    kernel, seen = ruled()
    x = rng.standard_normal((2, 3, 5)).astype(np.float32)
    got = jax.vmap(jax.vmap(lambda x: kernel(x, 2.0)))(x)
    np.testing.assert_array_equal(got, 2 * x)
    assert seen[0][0] == 3


def test_an_ops_rule_is_asked_with_its_static_arguments(rng):
    kernel = rc.kernel(SOURCE, shapes="n -> n", threads="n")

    @rc.op
    def scaled(s, x, *, factor):
        return kernel(x, factor)

    @scaled.def_vmap
    def rule(axis_size, in_batched, x, *, factor):
        assert in_batched == [True]
        return jnp.stack([scaled(row, factor=factor) for row in x]), True

    x = rng.standard_normal((3, 4)).astype(np.float32)
    got = jax.vmap(lambda x: scaled(x, factor=4.0))(x)
    np.testing.assert_array_equal(got, 4 * x)


def test_what_is_no_rule_is_refused():
    kernel = rc.kernel(SOURCE, shapes="n -> n", threads="n")
    with pytest.raises(rc.SignatureError, match="scale: def_vmap needs a function of"):
        kernel.def_vmap(3)
