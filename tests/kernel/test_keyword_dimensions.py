"""Dimensions that only results have: by keyword, with or without a parameter."""

from __future__ import annotations

import inspect
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc

REPEAT = """
__global__ void repeat(const float* x, float* out, int n) {
  out[blockIdx.y * n + blockIdx.x] = x[blockIdx.x];
}"""
ADD = """
__global__ void add(float* total, const float* x, float* out) {
  int i = blockIdx.x;
  total[i] += x[i];
  for (int row = 0; row < gridDim.y; ++row) out[row * gridDim.x + i] = total[i];
}"""
X = np.random.default_rng(17).standard_normal(7).astype(np.float32)


def repeat(**contract):
    contract = {"threads": ("n", "copies"), "block": 1, **contract}
    return rc.kernel(REPEAT, shapes="n -> copies n", **contract)


@pytest.mark.parametrize("copies", [3, 0, np.int64(2), np.array(4)])
def test_a_dimension_that_is_no_parameter(copies):
    kernel = repeat()
    expected = np.tile(X, (int(copies), 1))
    jitted = jax.jit(lambda x: kernel(x, copies=copies))
    for out in (
        kernel(X, copies=copies),
        kernel(copies=copies, x=X),
        kernel(X, 7, copies=copies),
        jitted(X),
    ):
        assert out.shape == expected.shape
        np.testing.assert_array_equal(out, expected)


def test_two_values_are_two_recordings():
    kernel, x = repeat(), jnp.asarray(X)
    for copies in (2, 5, 2, 1):
        np.testing.assert_array_equal(kernel(x, copies=copies), np.tile(X, (copies, 1)))


def test_it_is_static_in_jit_and_kept_in_vmap():
    kernel = repeat()
    jitted = jax.jit(kernel, static_argnames="copies")
    np.testing.assert_array_equal(jitted(X, copies=3), np.tile(X, (3, 1)))
    rows = np.stack([X, -X, 2 * X])
    out = jax.vmap(lambda x: kernel(x, copies=2))(rows)
    np.testing.assert_array_equal(out, np.stack([rows, rows], axis=1))


def test_the_signature_has_it():
    assert str(inspect.signature(repeat())) == "(x, *dimensions, copies, **named)"
    add = rc.kernel(
        ADD,
        shapes="n, n -> rows n",
        in_out="total",
        threads=("n", "rows"),
        block=1,
    )
    assert str(inspect.signature(add)) == "(total, x, *, rows)"


@pytest.mark.parametrize(
    "option", [{"donate_argnames": "total"}, {"donate_argnums": 0}]
)
def test_another_operand_is_donated(option):
    add = rc.kernel(
        ADD, shapes="n, n -> rows n", in_out="total", threads=("n", 1), block=1, fill=0
    )
    total, x = jnp.asarray(X), jnp.asarray(2 * X)
    expected = np.asarray(total) + np.asarray(x)
    new, out = jax.jit(add, static_argnames=("rows",), **option)(total, x, rows=1)
    np.testing.assert_array_equal(new, expected)
    np.testing.assert_array_equal(out, expected[None])
    assert total.is_deleted()
    assert not x.is_deleted()


def test_functions_get_it_by_keyword():
    seen = []

    def launch(x, copies):
        seen.append((x.shape, copies))
        return rc.LaunchConfig((x.shape[0], copies), 1)

    kernel = repeat(threads=None, block=None, launch=launch)
    np.testing.assert_array_equal(kernel(X, copies=3), np.tile(X, (3, 1)))
    assert seen == [((7,), 3)]
    wrong = repeat(
        threads=None, block=None, launch=lambda x: rc.LaunchConfig(*x.shape, 1)
    )
    text = (
        "repeat: launch= takes (x), but it is called with the arguments of the call, "
        "(x, copies=). Let it take these."
    )
    with pytest.raises(rc.SignatureError, match=f"^{re.escape(text)}$"):
        wrong(X, copies=3)


TRACED = (
    "repeat: dimension 'copies' is a JAX array (int32[]), but the shapes of results "
    'must be known while tracing. Pass a Python int (static_argnames="copies" in '
    "jax.jit)."
)
CALLS = {
    "left out": (
        lambda: repeat()(X),
        rc.ValidationError,
        "repeat: no operand has dimension 'copies' of the results (known: n=7). Pass "
        "it by keyword, such as copies=16.",
    ),
    "another keyword": (
        lambda: repeat()(X, copy=3),
        rc.SignatureError,
        "repeat: 'copy' is no parameter. Choose from: x, n, copies.",
    ),
    "a dimension of an operand that is no parameter": (
        lambda: rc.kernel(REPEAT, shapes="m -> copies m", threads=1)(X, 7, m=7),
        rc.SignatureError,
        "repeat: 'm' is no parameter. Choose from: x, n, copies.",
    ),
    "by position": (
        lambda: repeat()(X, 7, 3),
        rc.SignatureError,
        "repeat: expected 1 argument (x) or 2 arguments (x, n), got 3. Dimensions that "
        "are no parameters (copies) go by keyword, such as copies=16.",
    ),
    "a float": (
        lambda: repeat()(X, copies=3.0),
        rc.ValidationError,
        "repeat: dimension 'copies' is 3.0; it needs an int that is not negative.",
    ),
    "negative": (
        lambda: repeat()(X, copies=-1),
        rc.ValidationError,
        "repeat: dimension 'copies' is -1; it needs an int that is not negative.",
    ),
    "an array": (
        lambda: repeat()(X, copies=np.arange(3)),
        rc.ValidationError,
        "repeat: dimension 'copies' is array([0, 1, 2]); it needs an int that is not "
        "negative.",
    ),
    "traced": (
        lambda: jax.jit(repeat())(X, copies=3),
        rc.SignatureError,
        TRACED,
    ),
    "a JAX array": (
        lambda: repeat()(X, copies=jnp.int32(3)),
        rc.SignatureError,
        TRACED,
    ),
    "a parameter of that name that is no integer": (
        lambda: rc.kernel(
            "__global__ void k(const float* x, float a, float* out) {}",
            shapes="n -> a",
            threads=1,
        )(X, a=3.0),
        rc.ValidationError,
        "k: no operand has dimension 'a' of the results (known: n=7). The parameter of "
        "that name is no integer: call one of them otherwise, write the size out, or "
        "declare the results with out=.",
    ),
}


@pytest.mark.parametrize(("call", "kind", "text"), CALLS.values(), ids=CALLS.keys())
@pytest.mark.usefixtures("no_xla")
def test_a_call_that_is_refused(call, kind, text):
    with pytest.raises(kind, match=rf"^{re.escape(text)}(\n|\Z)"):
        call()
