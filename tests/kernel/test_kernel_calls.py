"""How a kernel is called: by position, by name, from ops, and with donation."""

from __future__ import annotations

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc

AXPY = """
__global__ void axpy(const float* x, const float* y, float a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}"""
ADD = """
__global__ void add(float* total, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) total[i] += x[i];
}"""
DONATIONS = [{"donate_argnames": "total"}, {"donate_argnums": 0}]
RNG = np.random.default_rng(11)


def axpy():
    return rc.kernel(AXPY, shapes="n, n -> n", threads="n")


def arrays(count, n=19):
    return [jnp.asarray(RNG.standard_normal(n, np.float32)) for _ in range(count)]


def test_operands_by_name():
    x, y = arrays(2)
    expected = axpy()(x, y, 2.0)
    for _ in range(2):
        np.testing.assert_array_equal(axpy()(y=y, x=x, a=2.0), expected)
        np.testing.assert_array_equal(axpy()(x, a=2.0, y=y), expected)


def test_names_that_cannot_be_passed():
    x, y = arrays(2)
    with pytest.raises(
        rc.SignatureError, match=r"^axpy: 'z' is no parameter\. Choose "
    ):
        axpy()(x, y, 2.0, z=1)
    with pytest.raises(rc.SignatureError, match=r"^axpy: 'out' is a result\. Choose "):
        axpy()(x, y, 2.0, out=x)


FORGOTTEN = """
__global__ void twice(float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * x[i];
}"""
ABOUT = (
    r"Results \(x, out\) are allocated for you and are not passed: a pointer that is "
    r"passed needs `const`, or its name in in_out=\.$"
)


def test_a_forgotten_const_is_named():
    kernel = rc.kernel(FORGOTTEN, shapes="n -> n", threads="n")
    text = (
        r"^twice: pointers without `const` \(x, out\) are results, allocated for you "
        r"and not passed; so float32\[19\] came to scalar 'n', which needs a number\. "
        r"Write `const` at a pointer that you pass, or name it in in_out=\.$"
    )
    with pytest.raises(rc.SignatureError, match=text):
        kernel(*arrays(1))
    with pytest.raises(
        rc.SignatureError, match=r"^twice: expected .* got 3\. " + ABOUT
    ):
        kernel(*arrays(3))


def test_vectors_by_value_are_arrays(rng):
    kernel = rc.kernel(
        """__global__ void affine(const float* x, float4 m, float* out, int n) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) out[i] = m.x * x[i] + m.y - m.w;
        }""",
        shapes="n -> n",
        threads="n",
    )
    (x,) = arrays(1)
    for _ in range(2):  # other values are another program
        m = rng.integers(-9, 9, 4).astype(np.float32)
        for f in (kernel, jax.jit(lambda x, m=m: kernel(x, m))):
            out = f(x) if f is not kernel else f(x, m)
            np.testing.assert_allclose(out, m[0] * x + m[1] - m[3], rtol=1e-5)
    with pytest.raises(
        rc.SignatureError,
        match=r"^affine: scalar 'm' is float64\[4\], but parameter `float4 m` holds 4 "
        r"float32\. Pass np\.array\(\[\.\.\.\], 'float32'\)\.$",
    ):
        kernel(x, np.ones(4))


def test_a_result_declared_for_an_operand_in_place():
    kernel = rc.kernel(ADD, shapes="n, n -> n", in_out="total", threads="n")
    with pytest.raises(
        rc.SignatureError,
        match=r"^add: 1 result declared; the kernel writes 0 \(none\) that are not in "
        r"in_out=\. Pointers of in_out= are operands, and stand left of -> only\.$",
    ):
        kernel(*arrays(2))


def test_the_signature_is_that_of_a_call():
    assert str(inspect.signature(axpy())) == "(x, y, a, *dimensions, **named)"


def test_a_signature_that_jax_can_bind():
    # A parameter with a default would be passed on as one more argument.
    add = rc.kernel(ADD, shapes="n, n ->", in_out="total", threads="n")
    wrapped = jax.custom_vjp(add)
    wrapped.defvjp(lambda total, x: (add(total, x), None), lambda _, g: (g, 3 * g))
    x, y = arrays(2)
    gradient = jax.grad(lambda x: wrapped(y, x).sum())(x)
    np.testing.assert_array_equal(gradient, np.full(19, 3, np.float32))
    jitted = jax.jit(axpy(), static_argnums=(2, 3))
    np.testing.assert_array_equal(jitted(x, y, 1.0, 19), x + y)


@pytest.mark.parametrize("option", DONATIONS)
def test_the_named_operand_is_donated(option):
    total, x = arrays(2)
    expected = total + x
    kernel = rc.kernel(ADD, shapes="n, n ->", in_out="total", threads="n")
    result = jax.jit(kernel, **option)(total, x)
    np.testing.assert_array_equal(result, expected)
    assert total.is_deleted()
    assert not x.is_deleted()


@pytest.mark.parametrize("option", DONATIONS)
def test_the_named_operand_of_an_op_is_donated(option):
    module = rc.compile_nvrtc(ADD)

    @rc.op
    def add(s, total, x):
        total = s.tensor_mut(total)
        config = rc.LaunchConfig.flat(x.size)
        s.launch(module.function("add"), config, total, x, x.size)
        return total

    assert str(inspect.signature(add)) == "(total, x)"
    total, x = arrays(2)
    expected = total + x
    np.testing.assert_array_equal(jax.jit(add, **option)(total, x), expected)
    assert total.is_deleted()
    assert not x.is_deleted()


def test_untyped_bytes_count_in_the_elements_of_the_kernel():
    kernel = axpy()

    @rc.op
    def doubled(s, x):
        copy = s.alloc_bytes(x.nbytes)
        s.copy_bytes(copy, x)
        return kernel(copy, x, 1.0)

    (x,) = arrays(1)
    np.testing.assert_array_equal(doubled(x), 2 * x)


def test_bytes_that_are_no_whole_elements():
    kernel = axpy()

    @rc.op
    def broken(s, x):
        return kernel(s.alloc_bytes(7, fill=0), x, 1.0)

    with pytest.raises(
        rc.ValidationError,
        match=r"^axpy: operand 'x' has 7 bytes, which is no whole number of float32\.",
    ):
        broken(*arrays(1))


def test_shapes_and_out_must_agree():
    half = jax.ShapeDtypeStruct((9,), jnp.float32)
    kernel = rc.kernel(AXPY, shapes="n, n -> n", threads="n", out=half)
    x, y = arrays(2, 9)
    np.testing.assert_array_equal(kernel(x, y, 1.0), x + y)
    with pytest.raises(
        rc.ValidationError,
        match=r'^axpy: out gives \[\(9,\)\], but shapes="n, n -> n" makes the results '
        r"\[\(19,\)\]\. Leave one out\.$",
    ):
        kernel(*arrays(2), 1.0)
