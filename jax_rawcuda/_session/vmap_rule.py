"""def_vmap: a rule of the user's in place of the batching of plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from .._base.errors import SignatureError

VmapRule = Callable[..., tuple[Any, Any]]


def check_rule(name: str, rule: Any) -> VmapRule:
    """Accepts a function as a rule."""
    if not callable(rule):
        raise SignatureError(
            f"{name}: def_vmap needs a function of (axis_size, in_batched, *args), got "
            f"{rule!r}."
        )
    return rule  # type: ignore[no-any-return]


def call_with_rule(
    name: str,
    call: Callable[..., Any],
    rule: VmapRule,
    args: Sequence[Any],
    keywords: Mapping[str, Any],
) -> Any:
    """Calls a function so that `vmap` asks a rule instead of looking into it.

    Args:
      name: For messages.
      call: Of the arguments.
      rule: `(axis_size, in_batched, *args, **keywords) -> (results, out_batched)`, as
        for `jax.custom_batching.custom_vmap`. What is no array is never batched, and
        comes to the rule as it was given.
      args: Positional arguments of the call.
      keywords: Its keywords.
    """
    # Not on import: primitives need jax.extend, which is slow to load.
    from .._xla.opaque import call_opaque

    leaves, tree = jax.tree.flatten((tuple(args), dict(keywords)))
    places = [i for i, leaf in enumerate(leaves) if _is_array(leaf)]

    def complete(arrays: Sequence[Any], others: Sequence[Any]) -> Any:
        every = list(others)
        for place, array in zip(places, arrays, strict=True):
            every[place] = array
        return tree.unflatten(every)

    def run(*arrays: Any) -> Any:
        given, named = complete(arrays, leaves)
        return call(*given, **named)

    def batch(size: int, in_batched: Sequence[bool], *arrays: Any) -> Any:
        given, named = complete(arrays, leaves)
        batched, _ = complete(in_batched, [False] * len(leaves))
        return rule(size, list(batched), *given, **named)

    batchable = jax.custom_batching.custom_vmap(run)
    batchable.def_vmap(batch)
    structure: Any = None  # of the results, once they are known

    def function(_: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
        nonlocal structure
        results: list[Any]
        results, structure = jax.tree.flatten(batchable(*arrays))
        return results

    # Where derivatives are taken, JAX would not say of which function.
    results = call_opaque(name, function, (), [leaves[place] for place in places])
    return structure.unflatten(results)


def _is_array(leaf: Any) -> bool:
    """Whether JAX can batch it; records are scalars of a kernel."""
    if isinstance(leaf, np.ndarray):
        return leaf.dtype.names is None
    return isinstance(leaf, jax.Array)
