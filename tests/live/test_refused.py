"""Calls of live ops that are refused while tracing: what is said."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.refusals import Row, table

import jax_rawcuda as rc
from jax_rawcuda import SessionError, SignatureError, UnsupportedError, ValidationError

pytestmark = pytest.mark.usefixtures("no_xla")

X = np.random.default_rng(7).standard_normal(100, np.float32)
OUT = jax.ShapeDtypeStruct(X.shape, X.dtype)


def nothing(s, x, out):
    pass


def with_k(s, x, out, *, k):
    pass


def live(**options):
    return rc.live_op(nothing, name="f", **options)


@rc.op
def recorded(s, x):
    return live(out=OUT)(x)


CALLS = [
    Row(
        "no results",
        lambda: live(),
        ValidationError,
        "f: it has no results, so XLA would never run it. Give out=, in_out= or "
        "has_side_effect=True.",
    ),
    Row(
        "a number",
        lambda: live(out=OUT)(3),
        SignatureError,
        "f: operand 'x' is a Python int; it needs an array. Pass jnp.asarray(...) "
        "with an explicit dtype.",
    ),
    Row(
        "64 bits",
        lambda: live(out=OUT)(np.float64(3)),
        SignatureError,
        "f: operand 'x' is float64, but JAX's 64-bit types are off and would make "
        'it float32. Convert it, or set jax.config.update("jax_enable_x64", True).',
    ),
    Row(
        "two operands for one",
        lambda: live(out=OUT)(X, X),
        SignatureError,
        "f: too many positional arguments. The function gets the session, 2 "
        "operands, then the outputs.",
    ),
    Row(
        "an unknown keyword",
        lambda: live(out=OUT)(X, k=1),
        SignatureError,
        "f: got an unexpected keyword argument 'k'. The function gets the session, "
        "1 operand, then the outputs.",
    ),
    Row(
        "an array by keyword",
        lambda: rc.live_op(with_k, out=lambda x, **_: x)(X, k=jnp.asarray(X)),
        SignatureError,
        "with_k: keyword argument 'k' holds an array, but what can only be passed by "
        "keyword is static. Let the function take it by position.",
    ),
    Row(
        "a list by keyword",
        lambda: rc.live_op(with_k, out=lambda x, **_: x)(X, k=[1]),
        SignatureError,
        "with_k: keyword argument 'k' is a Python list; static arguments of a live "
        "op need to be hashable. Use a tuple, or pass arrays by position.",
    ),
    Row(
        "in_out of no operand",
        lambda: live(in_out="y", out=OUT)(X),
        ValidationError,
        "f: in_out names 'y'; the operands are x.",
    ),
    Row(
        "out of a number",
        lambda: live(out=3)(X),
        SignatureError,
        "f: out has int, which has no shape and dtype. Give "
        "jax.ShapeDtypeStruct(shape, dtype).",
    ),
    Row(
        "a derivative",
        lambda: jax.grad(lambda x: live(out=OUT)(x).sum())(X),
        UnsupportedError,
        "f has no differentiation rule. Give it one, with its defvjp(fwd, bwd) or "
        "defjvp(rule), or pass what needs no derivative through jax.lax.stop_gradient.",
    ),
    Row(
        "a reference of a recorded session",
        lambda: recorded(X),
        SessionError,
        "f: operand 'x' is TensorRef(x: float32[100]); a live op takes arrays. Call "
        "it beside the other op, from a jitted function.",
    ),
    Row(
        "export",
        lambda: jax.export.export(jax.jit(live(out=OUT)))(X),
        NotImplementedError,
        "...host_callbacks...",
    ),
]


@table(CALLS)
def test_a_call_is_refused(row):
    row.check()
