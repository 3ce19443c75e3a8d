"""vmap: the plan gains a batch axis, which one call of the handler serves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax.interpreters import batching

from .._base.errors import ValidationError
from .._plan.batch import MAX_AXES, batch_of
from .._plan.plan import Plan
from .primitive import bind, session_p


def _batch(
    operands: Sequence[Any], axes: Sequence[int | None], *, plan: Plan
) -> tuple[list[Any], list[int]]:
    """Puts the batch axis first; operands without it are read again, never copied."""
    pairs = list(zip(operands, axes, strict=True))
    size = next(x.shape[a] for x, a in pairs if a is not None)
    # An operand that shares its buffer with a result needs one buffer per element.
    written = {operand for operand, _ in plan.aliases}
    moved, batched = [], []
    for i, (x, axis) in enumerate(pairs):
        if axis is not None:
            moved.append(jnp.moveaxis(x, axis, 0))
        elif i in written:
            moved.append(jnp.broadcast_to(x, (size, *x.shape)))
        else:
            moved.append(x)
        batched.append(axis is not None or i in written)
    whole = plan.batched(size, tuple(batched))
    axes_left = len(batch_of(whole, own_workspaces=True).axes)
    if axes_left > MAX_AXES:
        raise ValidationError(
            f"{plan.op_name}: {axes_left} nested vmaps that batch different operands; "
            f"{MAX_AXES} are possible. Broadcast the operands of some, so that they "
            "batch the same ones."
        )
    results = bind(whole, moved)
    return results, [0] * len(results)


batching.primitive_batchers[session_p] = _batch
