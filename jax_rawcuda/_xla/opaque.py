"""opaque_p: a call that JAX does not look into when it takes derivatives.

`jax.custom_derivatives.linear_call` would do for the linear ones, if it had a rule for
vmap, took a tangent that is zero, and said which function has no transpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.interpreters import ad, batching, mlir

from .._base.compat import is_tracer, make_primitive, vary_alike, zero_tangents
from .._base.errors import (
    SignatureError,
    UnsupportedError,
    no_derivative,
    no_transpose,
)
from .._types.dtypes import spell_array

opaque_p = make_primitive("rawcuda_opaque")

# Of constants, and of linear operands or, if it is a transpose, cotangents.
Linear = Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]]


def call_opaque(
    name: str,
    function: Linear,
    constants: Sequence[Any],
    operands: Sequence[Any],
    transpose: Linear | None = None,
) -> list[Any]:
    """Calls a function of arrays as one operation.

    Args:
      name: For messages.
      function: Of `constants` and `operands`, arrays; returns arrays.
      constants: What it need not be linear in.
      operands: The others. It must be linear in all of them if there is a transpose.
      transpose: Of `constants` and a cotangent per result; returns one per operand.
        Without it a derivative is an error, but where all results are integers.

    Raises:
      SignatureError: The function closes over a traced array.
    """
    arrays = vary_alike([*constants, *operands])
    count = len(constants)
    jaxpr = jax.make_jaxpr(lambda *xs: function(xs[:count], xs[count:]))(*arrays)
    for const in jaxpr.consts:
        if is_tracer(const):  # what runs later, such as the transpose, has it no more
            raise SignatureError(
                f"{name}: the function closes over {spell_array(const)}, which is "
                "traced. Pass it as an operand."
            )
    results: list[Any] = opaque_p.named(name).bind(
        *arrays, name=name, jaxpr=jaxpr, constants=count, transpose=transpose
    )
    return results


def _run(*operands: Any, jaxpr: Any, **_params: Any) -> list[Any]:
    results: list[Any] = jax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *operands)
    return results


def _abstract_eval(*_operands: Any, jaxpr: Any, **_params: Any) -> tuple[Any, Any]:
    return jaxpr.out_avals, jaxpr.effects


opaque_p.def_impl(_run)
opaque_p.def_effectful_abstract_eval(_abstract_eval)
mlir.register_lowering(opaque_p, mlir.lower_fun(_run, multiple_results=True))


def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], **params: Any
) -> tuple[Sequence[Any], Sequence[Any]]:
    name, types = params["name"], params["jaxpr"].out_avals
    moves = any(jnp.issubdtype(t.dtype, jnp.inexact) for t in types)
    if moves and params["transpose"] is None:
        raise no_derivative(name)
    primitive = opaque_p.named(name)
    results = primitive.bind(*primals, **params)
    if not moves:
        return results, zero_tangents(results)
    count = params["constants"]
    parts = []
    if any(not isinstance(t, ad.Zero) for t in tangents[count:]):
        linear = map(ad.instantiate_zeros, tangents[count:])
        operands = vary_alike([*primals[:count], *linear])
        parts.append(primitive.bind(*operands, **params))
    moving = [i for i in range(count) if not isinstance(tangents[i], ad.Zero)]
    if moving:

        def of_constants(*xs: Any) -> list[Any]:
            operands = list(primals)
            for i, x in zip(moving, xs, strict=True):
                operands[i] = x
            return _run(*operands, **params)

        at, along = ([x[i] for i in moving] for x in (primals, tangents))
        parts.append(jax.jvp(of_constants, at, along)[1])
    return results, [sum(ts[1:], start=ts[0]) for ts in zip(*parts, strict=True)]


def _transpose(
    cotangents: Sequence[Any],
    *operands: Any,
    name: str,
    jaxpr: Any,
    constants: int,
    transpose: Linear | None,
) -> list[Any]:
    if transpose is None:
        raise no_transpose(name)
    held, linear = operands[:constants], operands[constants:]
    if any(map(ad.is_undefined_primal, held)):
        raise UnsupportedError(
            f"{name}: asked for the transpose in an operand that is a constant of "
            "rc.linear. Name it in linear=, if the function is linear in it."
        )
    turned = call_opaque(
        name,
        transpose,
        held,
        [ad.instantiate_zeros(t) for t in cotangents],
        lambda held, xs: _run(*held, *xs, jaxpr=jaxpr),
    )
    # A linear operand that is known is a tangent that is zero.
    wanted = [
        t if ad.is_undefined_primal(x) else None
        for t, x in zip(turned, linear, strict=True)
    ]
    return [*(None for _ in held), *wanted]


def _batch(
    operands: Sequence[Any],
    axes: Sequence[int | None],
    *,
    name: str,
    jaxpr: Any,
    constants: int,
    transpose: Linear | None,
) -> tuple[list[Any], list[int]]:
    """Calls the batched function, whose transpose is the batched transpose."""
    operands = [
        x if axis is None else jnp.moveaxis(x, axis, 0)
        for x, axis in zip(operands, axes, strict=True)
    ]
    first = [None if axis is None else 0 for axis in axes]

    def batched(held: Sequence[Any], linear: Sequence[Any]) -> Sequence[Any]:
        run = jax.vmap(lambda *xs: _run(*xs, jaxpr=jaxpr), tuple(first))
        results: Sequence[Any] = run(*held, *linear)
        return results

    def transposed(held: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        run = jax.vmap(transpose, (first[:constants], 0))
        # An operand without the axis is used by all elements: the sum is its cotangent.
        return [
            jnp.sum(t, 0) if axis is None else t
            for t, axis in zip(
                run(list(held), list(cotangents)), first[constants:], strict=True
            )
        ]

    results = call_opaque(
        name,
        batched,
        operands[:constants],
        operands[constants:],
        transposed if transpose else None,
    )
    return results, [0] * len(results)


ad.primitive_jvps[opaque_p] = _jvp
ad.primitive_transposes[opaque_p] = _transpose
batching.primitive_batchers[opaque_p] = _batch
