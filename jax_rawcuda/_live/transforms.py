"""vmap and derivatives of a live op, whose callback JAX knows too little of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from .._base.errors import UnsupportedError, ValidationError

METHODS = (
    "sequential",
    "sequential_unrolled",
    "expand_dims",
    "broadcast_all",
    "legacy_vectorized",
)
_LISTED = ", ".join(f"'{method}'" for method in METHODS)


def check_method(op_name: str, method: str | None) -> None:
    """Refuses a `vmap_method` that JAX does not know."""
    if method is not None and method not in METHODS:
        raise ValidationError(
            f"{op_name}: vmap_method={method!r}; it is one of {_LISTED}, or None."
        )


def transformable(
    op_name: str,
    run: Callable[..., Sequence[Any]],
    written: Sequence[int],
    method: str | None,
) -> Callable[..., Sequence[Any]]:
    """Gives `run`, a callback of JAX's, a rule for vmap, and errors for derivatives.

    Args:
      op_name: For messages.
      run: Takes arrays, returns arrays.
      written: Numbers of the operands that are changed in place. Each needs a buffer
        per element, whether it has the axis or not.
      method: How JAX calls `run` on more than one element; None is an error.
    """
    # Not on import: primitives need jax.extend, which is slow to load.
    from .._xla.opaque import call_opaque

    mapped = _mappable(op_name, run, written, method)
    return lambda *arrays: call_opaque(
        op_name, lambda _, operands: mapped(*operands), (), arrays
    )


def _mappable(
    op_name: str,
    run: Callable[..., Sequence[Any]],
    written: Sequence[int],
    method: str | None,
) -> Callable[..., Sequence[Any]]:
    def over_axis(size: int, batched: Sequence[bool], *arrays: Any) -> tuple[Any, Any]:
        if method is None:
            raise UnsupportedError(
                f"{op_name} has no rule for vmap. Give vmap_method=, one of {_LISTED}."
            )
        operands = [
            jnp.broadcast_to(x, (size, *x.shape)) if i in written and not b else x
            for i, (x, b) in enumerate(zip(arrays, batched, strict=True))
        ]
        axes = [0 if b or i in written else None for i, b in enumerate(batched)]
        again = _mappable(op_name, jax.vmap(run, tuple(axes)), written, method)
        results = again(*operands)
        return results, jax.tree.map(lambda _: True, results)

    mapped: Any = jax.custom_batching.custom_vmap(lambda *arrays: run(*arrays))
    mapped.def_vmap(over_axis)
    return mapped  # type: ignore[no-any-return]
