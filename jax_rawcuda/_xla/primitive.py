"""session_p: the JAX primitive that runs a plan."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import jax
from jax.interpreters import ad, mlir

from .._base.checked_mode import waiting
from .._base.compat import make_primitive, result_aval, vary_alike
from .._base.errors import no_derivative
from .._plan.plan import Plan
from .lowering import lower, lower_cpu

session_p = make_primitive("rawcuda_session")


def bind(plan: Plan, operands: Sequence[Any]) -> list[Any]:
    """Runs a plan on arrays, traced or not; returns its visible results."""
    results: list[Any] = session_p.bind(*vary_alike(operands), plan=plan)
    return results


@functools.lru_cache(maxsize=1024)
def _executable(plan: Plan) -> Callable[..., Any]:
    # A cached jitted call costs a tenth of an eager bind.
    run: Callable[..., Any] = jax.jit(lambda *xs: session_p.bind(*xs, plan=plan))
    return run


def _impl(*operands: Any, plan: Plan) -> Any:
    run = _executable(plan)
    return (run if plan.labels is None else waiting(run))(*operands)


def _abstract_eval(*operands: Any, plan: Plan) -> list[Any]:
    return [
        result_aval((*plan.batch_shape, *t.shape), t.dtype, operands)
        for t in plan.results
    ]


session_p.def_impl(_impl)
session_p.def_abstract_eval(_abstract_eval)


mlir.register_lowering(session_p, lower_cpu, platform="cpu")
mlir.register_lowering(
    session_p, functools.partial(lower, platform="cuda"), platform="cuda"
)


def _no_derivative(_primals: Any, _tangents: Any, *, plan: Plan) -> NoReturn:
    raise no_derivative(plan.op_name)


ad.primitive_jvps[session_p] = _no_derivative
