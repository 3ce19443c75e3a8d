"""Extents that a declaration or a call gives: `threads="w h"`, `block=(32, 8)`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax

from .._base.errors import SignatureError, ValidationError
from .._types.arrays import describe
from .._types.launch import Dim3, dim3
from .._types.shape_syntax import Expression, Extents, parse_axes

DEFAULT_BLOCK = 256  # threads

Axes = int | str | Sequence[int | str]


def parse_threads(owner: str, given: Axes) -> Extents:
    """Reads `threads=`: one to three extents.

    Raises:
      ValidationError: It is something else.
    """
    _refuse_functions(owner, "threads", given)
    return _axes(owner, "threads", given)


def parse_block(owner: str, given: int | Sequence[int] | None) -> Dim3:
    """Reads `block=`: one to three ints, or None for the default.

    Raises:
      ValidationError: It is something else.
    """
    _refuse_functions(owner, "block", given)
    return dim3(owner, "block", DEFAULT_BLOCK if given is None else given)


def parse_shared(owner: str, given: Any) -> Expression | Callable[..., int]:
    """Reads `shared_mem_bytes=`: one extent, or a function of the call's arguments.

    Raises:
      ValidationError: It is something else.
    """
    what = "shared_mem_bytes"
    if callable(given):
        function: Callable[..., int] = given
        return function
    if len(_parts(given)) != 1 or len(axes := _axes(owner, what, given)) != 1:
        raise ValidationError(f"{owner}: {what}={given!r}; it needs one number.")
    return axes[0]


def given_extent(owner: str, name: str, value: Any) -> int:
    """Reads a dimension that a call gives by keyword.

    Raises:
      SignatureError: It is traced, or another JAX array.
      ValidationError: It is no int, or negative.
    """
    if isinstance(value, jax.Array):
        raise SignatureError(
            f"{owner}: dimension '{name}' is a JAX array ({describe(value)}), but the "
            "shapes of results must be known while tracing. Pass a Python int "
            f'(static_argnames="{name}" in jax.jit).'
        )
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise ValidationError(
            f"{owner}: dimension '{name}' is {value!r}; it needs an int that is not "
            "negative."
        )
    return number


def _axes(owner: str, what: str, axes: Axes) -> Extents:
    parts = [axes] if isinstance(axes, str) else _parts(axes)
    texts = [p if isinstance(p, str) else _integer(owner, what, p) for p in parts]
    text = texts[0] if isinstance(axes, str) else " ".join(f"({t})" for t in texts)
    parsed = parse_axes(text, owner=owner, what=what) if parts else ()
    if not 1 <= len(parsed) <= 3:
        raise ValidationError(
            f"{owner}: {what} has {len(parsed)} axes; it needs one to three."
        )
    return parsed


def _parts(axes: Any) -> list[Any]:
    return list(axes) if isinstance(axes, tuple | list) else [axes]


def _integer(owner: str, what: str, value: Any) -> str:
    number = operator.index(value) if hasattr(value, "__index__") else -1
    if number < 0:
        raise ValidationError(
            f"{owner}: {what} has {value!r}; it needs ints that are not negative, or "
            "text over dimensions."
        )
    return str(number)


def _refuse_functions(owner: str, what: str, given: Any) -> None:
    if any(map(callable, _parts(given))):
        text = ", or text over dimensions" if what == "threads" else ""
        raise ValidationError(
            f"{owner}: {what} has a function; it needs ints{text}. Use launch=, a "
            "function that returns a LaunchConfig, instead of threads= and block=."
        )
