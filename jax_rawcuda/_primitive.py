"""session_p: the JAX primitive that runs a plan."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import jax
import numpy as np
from jax.interpreters import ad, mlir

from ._checked import image_of
from ._checking import waiting
from ._compat import make_primitive, result_aval, vary_alike
from ._encoding import encode
from ._errors import no_derivative
from ._guards import guarded
from ._module import Target
from ._plan import Plan

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


def _lower(ctx: Any, *operands: Any, plan: Plan, platform: str) -> Sequence[Any]:
    from ._registration import SYNC_TARGET, TARGET, register

    register()
    if plan.labels is not None and platform == "cuda":
        plan = guarded(plan)
    attributes = encode(plan, platform)
    hidden = [result_aval((n,), np.dtype(np.uint8), ()) for n in plan.allocations]
    rule = jax.ffi.ffi_lowering(
        SYNC_TARGET if plan.synchronizes else TARGET,
        operand_output_aliases=dict(plan.aliases) or None,
    )
    # Workspaces are results that nobody uses: XLA's memory plan counts and reuses them.
    whole = ctx.replace(avals_out=[*ctx.avals_out, *hidden])
    results = rule(whole, *operands, **attributes)
    return list(results)[: len(plan.results)]


def _lower_cpu(ctx: Any, *operands: Any, plan: Plan) -> Sequence[Any]:
    from .cpu import load_kernel

    # An instruction that the CPU lacks is reported here, in Python, before XLA starts.
    target = Target("cpu")
    for function in plan.functions:
        image = image_of(function, target, plan)
        symbol = function.lowered_name(target)
        load_kernel(image.data.decode(), symbol, dict(image.variables))
    return _lower(ctx, *operands, plan=plan, platform="cpu")


mlir.register_lowering(session_p, _lower_cpu, platform="cpu")
mlir.register_lowering(
    session_p, functools.partial(_lower, platform="cuda"), platform="cuda"
)


def _no_derivative(_primals: Any, _tangents: Any, *, plan: Plan) -> NoReturn:
    raise no_derivative(plan.op_name)


ad.primitive_jvps[session_p] = _no_derivative
