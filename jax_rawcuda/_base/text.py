"""Splitting text and tokens at separators that no bracket encloses."""

from __future__ import annotations

import re
from typing import TypeVar

BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_CLOSING = frozenset(BRACKETS.values())
_BRACKET = re.compile(r"[()\[\]{}<>]")

Sliceable = TypeVar("Sliceable", str, list[str])


def top_level_parts(sequence: Sliceable, separator: str = ",") -> list[Sliceable]:
    """Splits characters or tokens at the separators that no bracket encloses.

    Returns:
      The parts, empty ones too; none of an empty sequence.
    """
    if not sequence:
        return []
    parts: list[Sliceable] = []
    depth = start = 0
    for index, item in enumerate(sequence):
        if item in BRACKETS:
            depth += 1
        elif item in _CLOSING:
            depth -= 1
        elif item == separator and depth == 0:
            parts.append(sequence[start:index])
            start = index + 1
    parts.append(sequence[start:])
    return parts


def split_top_level(text: str, separator: str = ",") -> list[str]:
    """Splits a text likewise, and strips the parts; a blank text has none."""
    if not text.strip():
        return []
    if _BRACKET.search(text):
        parts = top_level_parts(text, separator)
    else:
        parts = text.split(separator)
    return [part.strip() for part in parts]
