"""Lowers a plan to one custom call, per platform."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.interpreters import mlir

from .._base import settings
from .._base.compat import result_aval
from .._plan.encode import encode
from .._plan.guards import guarded
from .._plan.plan import Plan
from .._plan.report import report
from .._plan.schedule import Schedule, schedule
from .padding import padded, run_padded
from .side_effects import SideEffect, check_place, emit_call


def lower(ctx: Any, *operands: Any, plan: Plan, platform: str) -> Sequence[Any]:
    """Lowers a plan for `cuda` or `cpu`."""
    if (wider := padded(plan, platform)) is not None:
        run = functools.partial(run_padded, ctx.primitive, plan, wider)
        return mlir.lower_fun(run, multiple_results=True)(ctx, *operands)  # type: ignore[no-any-return]
    if plan.labels is not None and platform == "cuda":
        plan = guarded(plan)
    found = schedule(plan, platform)
    if platform == "cpu":
        _load_on_host(plan, found)
    return _call(ctx, operands, plan, found)


def _load_on_host(plan: Plan, found: Schedule) -> None:
    """Reports an instruction that the CPU lacks in Python, before XLA starts."""
    from ..cpu import load_kernel

    for way in found.ways:
        image = way.image
        load_kernel(
            image.data.decode(),
            way.lowered_name,
            dict(image.variables),
            checked=plan.labels is not None,
        )


def _call(
    ctx: Any, operands: Sequence[Any], plan: Plan, found: Schedule
) -> Sequence[Any]:
    from .registration import SYNC_TARGET, TARGET, register

    register()
    if settings.log():
        print(report(plan, found), file=sys.stderr)  # noqa: T201
    attributes = encode(plan, found)
    sizes = found.allocations(plan)
    hidden = [result_aval((n,), np.dtype(np.uint8), ()) for n in sizes]
    effect = None
    if plan.has_side_effect:
        check_place(ctx, plan.op_name)
        effect = SideEffect(plan.op_name)
    # Workspaces are results that nobody uses: XLA's memory plan counts and reuses them.
    results = emit_call(
        ctx,
        SYNC_TARGET if plan.synchronizes else TARGET,
        operands,
        attributes,
        avals_out=[*ctx.avals_out, *hidden],
        aliases=dict(plan.aliases),
        effect=effect,
    )
    return list(results)[: len(plan.results)]
