"""Ops made of ops, of kernels, and of several modules."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc
from jax_rawcuda._compile.target import Target

SCALE = rc.compile_nvrtc("""
template <typename T>
__global__ void scale(const T* x, T* out, T factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * x[i];
}""")
ADD = rc.compile_nvrtc("""
__constant__ float bias;
extern "C" __global__ void add(float* total, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) total[i] += x[i] + bias;
}""")
# The same names and types as ADD's: told apart by their contents.
SUBTRACT = rc.compile_nvrtc("""
__constant__ float bias;
extern "C" __global__ void add(float* total, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) total[i] -= x[i] + bias;
}""")
square = rc.kernel(
    """
__global__ void square(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] * x[i];
}""",
    shapes="n -> n",
    threads="n",
)


class Pair(NamedTuple):
    sum: object
    parts: dict


@pytest.fixture(autouse=True)
def _on(device):
    with jax.default_device(device):
        yield


@pytest.fixture
def x(rng):
    return rng.integers(-9, 9, 100).astype(np.float32)


def launch(s, module, name, *arguments):
    size = arguments[1].size
    s.launch(module.function(name), rc.LaunchConfig.flat(size, 64), *arguments, size)


@rc.op
def scaled(s, x, *, factor):
    out = s.alloc_output(x.shape, x.dtype)
    launch(s, SCALE, "scale<float>", x, out, factor)
    return out


@rc.op
def added(s, total, x, *, module=ADD):
    total = s.tensor_mut(total)
    launch(s, module, "add", total, x)
    return total


def plans(f, *args):
    jaxpr = jax.make_jaxpr(f)(*args)
    return [e.params["plan"] for e in jaxpr.eqns if "plan" in e.params]


def test_kernels_of_several_modules(x):
    @rc.op
    def mixed(s, x):
        total = s.alloc_output(x.shape, x.dtype, fill=1)
        for module in (ADD, SUBTRACT, ADD.global_("bias").set(100.0), ADD):
            launch(s, module, "add", total, x)
        five, space = s.upload_bytes(np.int32([5])), s.alloc_bytes(4)
        launch(s, SCALE, "scale<int>", five, space[:1], 2)
        return total

    np.testing.assert_array_equal(mixed(x), 1 + 2 * x + 100)
    (plan,) = plans(mixed, x)
    assert len(plan.functions) == 4


def test_modules_made_inside_of_an_op(x):
    text = """
    extern "C" __global__ void triple(const float* x, float* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) out[i] = 3 * x[i];
    }"""
    signature = "triple(const float* x, float* out, int n)"
    triple = rc.compile_nvrtc(text).function("triple")
    ptx = triple.image(Target("cuda", "compute_90")).data
    cubin = triple.image(Target("cuda", "sm_90")).data

    @rc.op
    def compiles(s, x):
        outs = [s.alloc_output(x.shape, x.dtype) for _ in range(2)]
        compiled = s.compile_nvrtc(text, rc.NvrtcOptions(std="c++17"))
        loaded = s.load_ptx(ptx, signature=signature)
        for module, out in zip((compiled, loaded), outs, strict=True):
            launch(s, module, "triple", x, out)
        assert "triple" in s.load_cubin(cubin).kernel_names
        return outs

    for got in compiles(x):
        np.testing.assert_array_equal(got, 3 * x)


def test_ops_and_kernels_inside_of_an_op(x):
    """Called with references they record here; the results are references."""

    @rc.op
    def outer(s, x, y):
        first = scaled(x, factor=3.0)
        assert isinstance(first, rc.Output)
        second = square(first)
        total = added(second, y)
        assert total is s.tensor_mut(second) is second  # writable already
        return added(added(total, x), x, module=SUBTRACT)

    want = (3 * x) ** 2 + 2 * x + 0
    np.testing.assert_array_equal(outer(x, 2 * x), want)
    np.testing.assert_array_equal(jax.jit(outer)(x, 2 * x), want)
    rows = jnp.stack([x, x + 1])
    got = jax.vmap(outer, (0, None))(rows, 2 * x)
    np.testing.assert_array_equal(got[1], (3 * (x + 1)) ** 2 + 2 * x)
    (plan,) = plans(outer, x, x)
    assert plan.op_name == "outer"
    assert len(plan.commands) == 5
    assert len(plan.results) == 1


def test_an_operand_used_in_place_by_an_inner_op(x):
    """The outer op's operand is changed, the caller's array is not."""

    @rc.op
    def outer(s, x, y):
        new = added(x, y)
        with pytest.raises(rc.SessionError, match="operand 'x' is used in place"):
            scaled(x, factor=1.0)
        return new, scaled(new, factor=2.0)

    y = x[::-1].copy()
    new, doubled = outer(x, y)
    np.testing.assert_array_equal(new, x + y)
    np.testing.assert_array_equal(doubled, 2 * (x + y))


def test_pytrees(x):
    @rc.op
    def tree(s, parts, *rest, deep):
        out = {name: scaled(part, factor=deep["by"]) for name, part in parts.items()}
        return Pair(
            added(out["a"], rest[0][1]), {"b": [out["b"], None], "x": rest[0][0]}
        )

    got = tree({"a": x, "b": 2 * x}, (x, 3 * x), deep={"by": 5.0})
    assert isinstance(got, Pair)
    np.testing.assert_array_equal(got.sum, 5 * x + 3 * x)
    np.testing.assert_array_equal(got.parts["b"][0], 10 * x)
    assert got.parts["b"][1] is None
    np.testing.assert_array_equal(got.parts["x"], x)


def test_one_array_for_two_operands(x):
    """The one used in place is another copy than the one that is read."""

    @rc.op
    def reversed_sum(s, total, x):
        total = s.tensor_mut(total)
        for i in range(x.size):
            config = rc.LaunchConfig(1, 1)
            s.launch(ADD.function("add"), config, total[i:], x[x.size - 1 - i :], 1)
        return total

    want = x + x[::-1]
    np.testing.assert_array_equal(reversed_sum(x, x), want)
    for donate in ((), (0,)):
        both = jax.jit(lambda x: reversed_sum(x, x), donate_argnums=donate)
        np.testing.assert_array_equal(both(jnp.asarray(x)), want)
        loop = jax.jit(
            lambda x: jax.lax.fori_loop(0, 3, lambda _, x: reversed_sum(x, x), x),
            donate_argnums=donate,
        )
        np.testing.assert_array_equal(loop(jnp.asarray(x)), 4 * want)


def test_an_error_of_an_inner_op_is_the_users(x):
    @rc.op
    def outer(s, x):
        return scaled(square(x), factor="three")

    with pytest.raises(rc.SignatureError, match=r"scale<float>: scalar 'factor'") as e:
        outer(x)
    assert any("test_session_composition" in str(entry.path) for entry in e.traceback)


def test_hundreds_of_launches(x):
    @rc.op
    def many(s, x):
        total = s.tensor_mut(x)
        ones = s.alloc_output(x.shape, x.dtype, fill=1)
        for _ in range(500):
            launch(s, ADD, "add", total, ones)
        return total

    np.testing.assert_array_equal(jax.jit(many)(x), x + 500)
