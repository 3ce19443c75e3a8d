"""Live ops are functions to Python: what a caller passes, methods, keywords."""

from __future__ import annotations

import functools
import inspect
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc


def live(function):
    return rc.live_op(function, out=lambda x, *_, **__: x)


@live
def double(s, x, out):
    np.asarray(out)[...] = 2 * np.asarray(x)


@live
def scaled(s, x, result, factor=3.0):
    np.asarray(result)[...] = factor * np.asarray(x)


@live
def added(s, x, y=None, out=None):
    np.asarray(out)[...] = np.asarray(x) + (0 if y is None else np.asarray(y))


@live
def last(s, *arrays):
    *operands, out = arrays
    np.asarray(out)[...] = sum(map(np.asarray, operands))


@live
def closed(s, x, out, /):
    np.asarray(out)[...] = -np.asarray(x)


@live
def behind(s, *arrays, out):
    np.asarray(out)[...] = sum(map(np.asarray, arrays))


class Layer:
    factor = 4.0

    def result(self, x):
        return x

    @rc.live_op(out=lambda self, x: self.result(x))
    def apply(self, s, x, out):  # noqa: ARG002
        np.asarray(out)[...] = self.factor * np.asarray(x)


@pytest.fixture
def x(rng):
    return jnp.asarray(rng.standard_normal(5).astype(np.float32))


SIGNATURES = {
    double: "(x)",
    scaled: "(x, *, factor=3.0)",
    added: "(x, y=None)",
    last: "(*arrays)",
    closed: "(x, /)",
    behind: "(*arrays)",
    Layer.apply: "(self, x)",
}


@pytest.mark.parametrize("op", SIGNATURES, ids=lambda op: op.name)
def test_a_signature_has_no_out(op):
    assert str(inspect.signature(op)) == SIGNATURES[op]


def test_where_the_outputs_arrive(x):
    np.testing.assert_array_equal(double(x), 2 * x)
    np.testing.assert_array_equal(double(x=x), 2 * x)
    np.testing.assert_array_equal(scaled(x), 3 * x)
    np.testing.assert_array_equal(scaled(x, factor=5.0), 5 * x)
    np.testing.assert_array_equal(added(x), x)
    np.testing.assert_array_equal(added(x, x), x + x)
    np.testing.assert_array_equal(added(x, y=x), x + x)
    np.testing.assert_array_equal(last(x, x, x), x + x + x)
    np.testing.assert_array_equal(closed(x), -x)
    np.testing.assert_array_equal(behind(x, x), x + x)


def test_methods(x):
    layer = Layer()
    for method in (layer.apply, functools.partial(Layer.apply, layer)):
        np.testing.assert_array_equal(method(x), 4 * x)
        np.testing.assert_array_equal(jax.jit(method)(x), 4 * x)
    assert str(inspect.signature(layer.apply)) == "(x)"


def test_functions_that_ask_for_the_signature(x):
    rule = jax.custom_vjp(double)
    rule.defvjp(lambda x: (double(x), None), lambda _, ct: (2 * ct,))
    gradient = jax.grad(lambda x: rule(x).sum())(x)
    np.testing.assert_array_equal(gradient, np.full(5, 2, np.float32))
    mapped = jax.vmap(jax.custom_batching.sequential_vmap(double))
    np.testing.assert_array_equal(mapped(jnp.stack([x, -x])), [2 * x, -2 * x])
    donated = jax.jit(double, donate_argnames="x")
    np.testing.assert_array_equal(donated(x + 0), 2 * x)


def test_operands_in_place_by_keyword(x):
    @rc.live_op(in_out="total")
    def add_to(s, x, total):
        np.asarray(total)[...] += np.asarray(x)

    np.testing.assert_array_equal(add_to(x, total=x), x + x)
    assert str(inspect.signature(add_to)) == "(x, total)"


def test_pickles_by_name():
    assert pickle.loads(pickle.dumps(double)) is double
