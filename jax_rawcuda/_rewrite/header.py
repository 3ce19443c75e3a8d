"""The parameter list of an entry."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .source import Edit, Item

_NAME = re.compile(r"\.entry\s+[\w$%]+\s*(\()?")
_PART = re.compile(r"[^,]+")


def header_edits(
    text: str, entry: Item, replaced: Mapping[int, str], appended: Sequence[str]
) -> list[Edit]:
    """Changes and appends parameters of 64 bits.

    Args:
      text: The PTX, without comments.
      entry: The entry.
      replaced: Names of parameters to declare anew, by their index.
      appended: Names of parameters to declare behind the others.
    """
    found = _NAME.search(text, entry.start, entry.end)
    if found is None:
        return []
    start = end = found.end()
    if found[1]:
        end = text.index(")", start)
    # No attribute of a parameter has a bracket or a comma in it.
    parts = [part for part in _PART.finditer(text, start, end) if part[0].strip()]
    edits = [
        Edit(parts[index].start(), parts[index].end(), f"\n\t{_declaration(name)}")
        for index, name in replaced.items()
    ]
    new = ",".join(f"\n\t{_declaration(name)}" for name in appended)
    if new:
        joined = f",{new}\n" if parts else f"{new}\n"
        edits.append(Edit(end, end, joined if found[1] else f"({joined})\n"))
    return edits


def _declaration(name: str) -> str:
    return f".param .u64 {name}"
