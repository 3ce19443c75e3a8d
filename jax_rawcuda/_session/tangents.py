"""Tangents and cotangents: brought into the form that JAX, or a user's rule, needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

from .._base.compat import vary_over, varying_axes
from .._base.errors import SignatureError
from .._types.arrays import describe
from .._types.dtypes import spell_array


def fit(
    owner: str, what: str, types: Any, values: Any, zero: Callable[[Any], Any]
) -> Any:
    """Gives what a rule returned the types of what it is the derivative of.

    Args:
      owner: The rule, for messages.
      what: What `values` are, for messages.
      types: A pytree of abstract arrays.
      values: The same of arrays. None is zero, also in place of a part of the tree.
      zero: Makes zero, of an abstract array.
    """

    def fit_leaf(path: Any, value: Any, type_: Any) -> Any:
        if value is None:
            return jax.tree.map(zero, type_)
        if not hasattr(type_, "dtype"):
            raise ValueError("an array stands for a tree")
        if not jnp.issubdtype(type_.dtype, jnp.inexact):
            return zero(type_)
        if isinstance(value, SymbolicZero):
            return value
        array = jnp.asarray(value)
        if array.shape != type_.shape or not _converts(array.dtype, type_.dtype):
            raise SignatureError(
                f"{owner} returned {describe(value)} as the {what}"
                f"{jax.tree_util.keystr(path)}, which is {spell_array(type_)}. Return "
                "an array of that shape and kind, or None for zero."
            )
        return vary_over(varying_axes([type_]), [array.astype(type_.dtype)])[0]

    try:
        return jax.tree_util.tree_map_with_path(
            fit_leaf, values, types, is_leaf=lambda x: x is None
        )
    except ValueError:  # of JAX: the trees differ
        raise SignatureError(
            f"{owner} returned {jax.tree.structure(values)} as the {what}, whose "
            f"structure is {jax.tree.structure(types)}. Return that, or None for zero."
        ) from None


def _converts(given: np.dtype, wanted: np.dtype) -> bool:
    if jnp.issubdtype(given, jnp.complexfloating):
        return bool(jnp.issubdtype(wanted, jnp.complexfloating))
    return bool(jnp.issubdtype(given, jnp.inexact))


def zeros(type_: Any) -> Any:
    if not jnp.issubdtype(type_.dtype, jnp.inexact):
        return np.zeros(type_.shape, jax.dtypes.float0)
    return vary_over(varying_axes([type_]), [jnp.zeros(type_.shape, type_.dtype)])[0]


def or_none(derivative: Any) -> Any:
    """Hides what JAX has for the derivatives of integers."""
    dtype = getattr(derivative, "aval", derivative).dtype
    return None if dtype == jax.dtypes.float0 else derivative


def split(tree: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    """Takes the arrays of floating point out of a pytree of arrays.

    Returns:
      Them, and what makes the same tree of others of their kind. In the places of
      integers it puts JAX's zeros, their only derivatives.
    """
    leaves, structure = jax.tree.flatten(tree)
    places = [i for i, x in enumerate(leaves) if jnp.issubdtype(x.dtype, jnp.inexact)]

    def join(arrays: Sequence[Any]) -> Any:
        every = [np.zeros(x.shape, jax.dtypes.float0) for x in leaves]
        for place, array in zip(places, arrays, strict=True):
            every[place] = array
        return structure.unflatten(every)

    return [leaves[place] for place in places], join
