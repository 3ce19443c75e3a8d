"""rc.inspect: which way the launches of a function take, without running it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from .._base.compat import hide_frames
from .._base.errors import ValidationError
from .._plan.plan import Plan
from .._plan.report import PlanReport, report
from .._plan.schedule import schedule
from .padding import padded


@hide_frames
def inspect(
    function: Callable[..., Any],
    *args: Any,
    platform: str | None = None,
    **keywords: Any,
) -> tuple[PlanReport, ...]:
    """Traces a function and says how each call of an op or kernel in it would run.

    Nothing runs; kernels are compiled.

    Args:
      function: Any function that JAX can trace: an op, a kernel, one under `vmap`.
      *args: What it is called with. Arrays, also in pytrees, are traced, and may be
        `jax.ShapeDtypeStruct`s; anything else is passed on as it is.
      platform: `cuda` or `cpu`; that of JAX's default device when it is left out.
      **keywords: Passed on.

    Returns:
      One report per call, in the order of the traced program. `str()` of one says in
      words which launches serve a whole batch, which scalars are read from memory, and
      why others are not.

    Raises:
      ValidationError: No such platform.
    """
    if platform is None:
        platform = "cuda" if jax.default_backend() in ("gpu", "cuda") else "cpu"
    if platform not in ("cuda", "cpu"):
        raise ValidationError(f"platform={platform!r}: 'cuda' or 'cpu' is needed.")
    # Not at the top: the primitive needs jax.extend, which is slow to load.
    from . import batching as batching  # registers the rule for vmap
    from .primitive import session_p

    leaves, tree = jax.tree.flatten((args, keywords))
    arrays = [i for i, leaf in enumerate(leaves) if _is_traced(leaf)]

    def call(*given: Any) -> Any:
        every = list(leaves)
        for index, array in zip(arrays, given, strict=True):
            every[index] = array
        inner_args, inner_keywords = tree.unflatten(every)
        return function(*inner_args, **inner_keywords)

    traced = jax.make_jaxpr(call)(*(leaves[i] for i in arrays))
    reports = []
    for plan in _plans(traced.jaxpr, session_p):
        wider = padded(plan, platform) or plan
        reports.append(report(wider, schedule(wider, platform)))
    return tuple(reports)


def _is_traced(leaf: Any) -> bool:
    if isinstance(leaf, np.ndarray):
        return leaf.dtype.names is None  # records are scalars of a kernel
    return isinstance(leaf, jax.Array | jax.ShapeDtypeStruct)


def _plans(jaxpr: Any, primitive: Any) -> Iterator[Plan]:
    for equation in jaxpr.eqns:
        if equation.primitive == primitive:
            yield equation.params["plan"]
        for value in equation.params.values():
            for inner in value if isinstance(value, tuple | list) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from _plans(inner, primitive)
