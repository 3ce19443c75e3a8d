"""session_p: the JAX primitive that runs a plan."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
from jax.interpreters import ad, mlir

from .._base.checked_mode import waiting
from .._base.compat import (
    eager_modes,
    is_eager,
    let_checkify_see,
    make_primitive,
    plain_jit,
    result_aval,
    vary_alike,
    zero_tangents,
)
from .._base.errors import no_derivative, no_transpose
from .._plan.plan import Plan
from .lowering import lower
from .side_effects import SideEffect

session_p = make_primitive("rawcuda_session")


def bind(plan: Plan, operands: Sequence[Any]) -> list[Any]:
    """Runs a plan on arrays, traced or not; returns its visible results."""
    if is_eager():  # spares what JAX does to find a trace: half of the time of a call
        return _impl(*operands, plan=plan)
    primitive = session_p.named(plan.op_name)
    results: list[Any] = primitive.bind(*vary_alike(operands), plan=plan)
    return results


@functools.lru_cache(maxsize=1024)
def _executable(plan: Plan) -> Callable[..., Any]:
    primitive = session_p.named(plan.op_name)

    def run(*operands: Any) -> Any:
        return primitive.bind(*operands, plan=plan)

    run.__name__ = run.__qualname__ = plan.op_name  # in profiles and JAX's errors
    # A cached jitted call costs a tenth of an eager bind.
    jitted: Callable[..., Any] = jax.jit(run)
    return jitted


def _impl(*operands: Any, plan: Plan) -> list[Any]:
    run = _executable(plan)
    if plan.labels is not None:
        run = waiting(run)
    results: list[Any]
    if not eager_modes():
        results = run(*operands)
        return results
    # Without jit, or with a NaN in the result, JAX would bind the primitive again.
    with plain_jit():
        results = run(*operands)
    for result in results:
        _check_floats(plan, result)
    return results


def _check_floats(plan: Plan, result: jax.Array) -> None:
    """Raises as JAX does for its own primitives when it looks for NaN or infinity."""
    if not jnp.issubdtype(result.dtype, jnp.inexact):
        return
    for name, wanted, found in (
        ("nan", jax.config.jax_debug_nans, jnp.isnan),
        ("inf", jax.config.jax_debug_infs, jnp.isinf),
    ):
        if wanted and bool(found(result).any()):
            raise FloatingPointError(
                f"invalid value ({name}) encountered in {plan.op_name}"
            )


def _abstract_eval(*operands: Any, plan: Plan) -> tuple[list[Any], set[SideEffect]]:
    results = [
        result_aval((*plan.batch_shape, *t.shape), t.dtype, operands)
        for t in plan.results
    ]
    return results, {SideEffect(plan.op_name)} if plan.has_side_effect else set()


session_p.def_impl(_impl)
session_p.def_effectful_abstract_eval(_abstract_eval)


for _platform in ("cpu", "cuda"):
    mlir.register_lowering(
        session_p, functools.partial(lower, platform=_platform), platform=_platform
    )


def _jvp(
    primals: Sequence[Any], _tangents: Sequence[Any], *, plan: Plan
) -> tuple[Sequence[Any], Sequence[Any]]:
    if any(jnp.issubdtype(t.dtype, jnp.inexact) for t in plan.results):
        raise no_derivative(plan.op_name)
    results = session_p.bind(*primals, plan=plan)
    return results, zero_tangents(results)


def _transpose(_cotangents: Any, *_operands: Any, plan: Plan) -> NoReturn:
    raise no_transpose(plan.op_name)


ad.primitive_jvps[session_p] = _jvp
ad.primitive_transposes[session_p] = _transpose
let_checkify_see(session_p, lambda *, plan: str(plan.op_name))
