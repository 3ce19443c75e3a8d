"""Lowers a plan to one custom call, per platform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from .._base.compat import result_aval
from .._compile.target import Target
from .._plan.encode import encode, image_of
from .._plan.guards import guarded
from .._plan.plan import Plan


def lower(ctx: Any, *operands: Any, plan: Plan, platform: str) -> Sequence[Any]:
    from .registration import SYNC_TARGET, TARGET, register

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


def lower_cpu(ctx: Any, *operands: Any, plan: Plan) -> Sequence[Any]:
    from ..cpu import load_kernel

    # An instruction that the CPU lacks is reported here, in Python, before XLA starts.
    target = Target("cpu")
    for function in plan.functions:
        image = image_of(function, target, plan)
        symbol = function.lowered_name(target)
        load_kernel(image.data.decode(), symbol, dict(image.variables))
    return lower(ctx, *operands, plan=plan, platform="cpu")
