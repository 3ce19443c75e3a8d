"""Ops are functions to Python: methods, keywords, signatures, partial, pickles."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc

MODULE = rc.compile_nvrtc("""
extern "C" __global__ void axpy(const float* x, const float* y, float a, float* out,
                                int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}""")


def record_axpy(s, x, y, a):
    out = s.alloc_output(x.shape, x.dtype)
    config = rc.LaunchConfig.flat(x.size, 64)
    s.launch(MODULE.function("axpy"), config, x, y, a, out, x.size)
    return out


@rc.op
def axpy(s, x, y, a=1.0):
    return record_axpy(s, x, y, a)


@rc.op
def weighted(s, x, /, other, *more, scale=2.0):
    return record_axpy(s, x, other, scale), more


@dataclass(frozen=True, eq=False)
class Layer:
    """Holds a number, and arrays that its methods use."""

    factor: float = 3.0
    bias: jax.Array | None = None

    @rc.op
    def apply(self, s, x, y):
        """Says what it does."""
        return record_axpy(s, x, y, self.factor)

    @rc.op(name="add_bias")
    def shifted(self, s, x):
        return record_axpy(s, x, s.tensor(self.bias), self.factor)

    @classmethod
    @rc.op
    def default(cls, s, x):
        return record_axpy(s, x, x, cls.factor)

    @staticmethod
    @rc.op
    def plain(s, x):
        return record_axpy(s, x, x, 2.0)

    @functools.partial(jax.jit, static_argnums=0)
    @rc.op
    def jitted(self, s, x, y):
        return record_axpy(s, x, y, self.factor)

    outer = axpy  # not written here: no method


@pytest.fixture
def arrays(default_device, rng):
    return [rng.standard_normal(11).astype(np.float32) for _ in range(2)]


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_methods(arrays, transform):
    x, y = arrays
    layer = Layer(bias=jnp.asarray(y))
    want = np.float32(3) * x + y
    for method, operands in (
        (layer.apply, (x, y)),
        (layer.jitted, (x, y)),
        (layer.shifted, (x,)),
        (functools.partial(Layer.apply, layer), (x, y)),
        (functools.partial(layer.apply, y=y), (x,)),
    ):
        np.testing.assert_allclose(transform(method)(*operands), want, rtol=1e-6)
    np.testing.assert_allclose(transform(Layer.default)(x), 4 * x, rtol=1e-6)
    np.testing.assert_allclose(transform(layer.plain)(x), 3 * x, rtol=1e-6)
    np.testing.assert_allclose(transform(layer.outer)(x, y), x + y, rtol=1e-6)


def test_methods_of_two_objects_are_two_calls(arrays):
    x, y = arrays
    layer = Layer()
    assert layer.apply == layer.apply  # so that jit finds its program again
    assert layer.apply != Layer().apply
    first, second = (jax.jit(Layer(factor).apply)(x, y) for factor in (1.0, 2.0))
    np.testing.assert_allclose(second - first, x, rtol=1e-5, atol=1e-6)


def test_a_method_under_vmap_with_a_rule_of_its_own(arrays):
    class Scaled:
        factor = 5.0

        @rc.op
        def apply(self, s, x, y):
            return record_axpy(s, x, y, self.factor)

    seen = []

    @Scaled.apply.def_vmap
    def rule(size, in_batched, scaled, x, y):
        seen.append((size, in_batched))
        flat = scaled.apply(x.reshape(-1), jnp.broadcast_to(y, x.shape).reshape(-1))
        return flat.reshape(x.shape), True

    x, y = arrays
    batch = np.stack([x, y, x])
    got = jax.vmap(Scaled().apply, in_axes=(0, None))(batch, y)
    np.testing.assert_allclose(got, 5 * batch + y, rtol=1e-5)
    assert seen == [(3, [False, True, False])]


def test_inspecting_a_method(arrays):
    x, y = arrays
    layer = Layer()
    (report,) = rc.inspect(layer.apply, x, y)
    assert "axpy" in str(report)
    assert str(layer.apply.inspect(layer, x, y)) == str(report)


def test_arrays_by_keyword(arrays):
    x, y = arrays
    want = x + y
    np.testing.assert_allclose(axpy(x=x, y=y), want, rtol=1e-6)
    np.testing.assert_allclose(axpy(y=y, x=jnp.asarray(x)), want, rtol=1e-6)
    np.testing.assert_allclose(axpy(x, y=y, a=2.0), x + want, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(axpy)(y=y, x=x), want, rtol=1e-6)
    got, more = weighted(x, y, x, scale=1.0)
    np.testing.assert_allclose(got, want, rtol=1e-6)
    np.testing.assert_array_equal(more[0], x)
    np.testing.assert_allclose(weighted(x, other=y)[0], x + want, rtol=1e-6)


def test_a_scalar_by_keyword_may_be_traced(arrays):
    x, y = arrays
    got = jax.jit(lambda a: axpy(x, y, a=a))(2.5)
    np.testing.assert_allclose(got, np.float32(2.5) * x + y, rtol=1e-5)


def test_an_array_behind_one_that_is_left_out(arrays):
    @rc.op
    def gap(s, x, a=1.0, y=None):
        return record_axpy(s, x, x if y is None else y, a)

    x, y = arrays
    np.testing.assert_allclose(gap(x, y=y), x + y, rtol=1e-6)
    np.testing.assert_allclose(gap(x, y=y, a=2.0), 2 * x + y, rtol=1e-6)
    with pytest.raises(rc.SignatureError, match="operand 'y' is float64"):
        gap(x, y=y.astype(np.float64))


def test_operands_in_pytrees_by_keyword(arrays):
    @rc.op
    def added(s, pair):
        return record_axpy(s, pair["x"], pair["y"], 1.0)

    x, y = arrays
    np.testing.assert_allclose(added(pair={"x": x, "y": y}), x + y, rtol=1e-6)


def test_the_same_call_either_way(arrays):
    x, y = map(jnp.asarray, arrays)
    ways = [
        jax.make_jaxpr(lambda x, y: axpy(x, y)),
        jax.make_jaxpr(lambda x, y: axpy(y=y, x=x)),
    ]
    plans = [way(x, y).eqns[0].params["plan"] for way in ways]
    assert plans[0] == plans[1]


def test_signatures():
    assert str(inspect.signature(axpy)) == "(x, y, a=1.0)"
    assert str(inspect.signature(weighted)) == "(x, /, other, *more, scale=2.0)"
    assert str(inspect.signature(Layer().apply)) == "(x, y)"
    assert str(inspect.signature(Layer.apply)) == "(self, x, y)"
    assert repr(axpy) == "<op axpy(x, y, a=1.0)>"


def test_names():
    assert (axpy.__name__, axpy.__qualname__) == ("axpy", "axpy")
    assert Layer.apply.__qualname__ == "Layer.apply"
    assert Layer.apply.__doc__ == Layer().apply.__doc__ == "Says what it does."
    assert Layer.shifted.__name__ == "add_bias"
    assert Layer.apply.__module__ == __name__


def test_pickles_by_name(arrays):
    x, y = arrays
    for op in (axpy, weighted, Layer.apply, Layer.shifted):
        assert pickle.loads(pickle.dumps(op)) is op
        assert copy.deepcopy(op) is op
    again = pickle.loads(pickle.dumps(Layer(2.0).apply))
    np.testing.assert_allclose(again(x, y), 2 * x + y, rtol=1e-6)
    with pytest.raises(pickle.PicklingError, match=r"^f: it is pickled by name"):
        pickle.dumps(rc.op(lambda s, x: x, name="f"))  # noqa: ARG005
