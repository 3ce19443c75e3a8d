"""Sizes and shapes that users give, as checked ints."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from .errors import ValidationError

MAX_BYTES = 2**62  # far beyond any memory; sums of a few sizes fit 64 bits


def positive_size(owner: str, name: str, value: Any) -> int:
    """Reads a count of bytes or elements, 0 allowed."""
    size = _index(value)
    if size is None or size < 0:
        raise ValidationError(
            f"{owner}: {name}={value!r}; it needs an int that is not negative."
        )
    if size > MAX_BYTES:
        raise ValidationError(f"{owner}: {name}={size}; the largest is {MAX_BYTES}.")
    return size


def extents(owner: str, shape: int | Sequence[int]) -> tuple[int, ...]:
    """Reads a shape; an int is a shape of rank 1."""
    parts = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    return tuple(positive_size(owner, "shape", part) for part in parts)


def _index(value: Any) -> int | None:
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None
