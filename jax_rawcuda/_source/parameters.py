"""Parameters: where each begins and ends in a list, and what it is called."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence

from .._base.text import BRACKETS

# Each with its arguments in parentheses.
ATTRIBUTES = {
    "__launch_bounds__",
    "__cluster_dims__",
    "__block_size__",
    "__maxnreg__",
    "__attribute__",
    "__declspec",
    "alignas",
}
_QUALIFIERS = {
    "const",
    "volatile",
    "restrict",
    "__restrict__",
    "__restrict",
    "__grid_constant__",
    "struct",
    "enum",
    "class",
    "union",
    "typename",
}
_TYPE_WORDS = {
    *("void", "bool", "char", "short", "int", "long", "float", "double", "auto"),
    *("signed", "unsigned"),
}


def parameter_name(tokens: Sequence[str], macros: Collection[str] = ()) -> str | None:
    """Returns a parameter's name, None when it has none or another may be meant.

    Args:
      tokens: Of one parameter.
      macros: Names that stand for something else.
    """
    words = list(itertools.takewhile(lambda token: token != "=", tokens))
    for index in range(len(words) - 2):  # `float (*rows)[4]`, `int (&f)(int)`
        if words[index] == "(" and words[index + 1] in ("*", "&"):
            inside = itertools.takewhile(lambda w: w != ")", words[index + 2 :])
            return next((w for w in inside if _is_name(w)), None)
    words = drop_extents(_without_attributes(words, macros))
    while words and words[-1] in macros:  # `int n UNUSED`
        words.pop()
    if not words or not _is_name(words[-1]) or (words[-2:-1] == ["::"]):
        return None
    *before, name = words
    if _has_type(before[:-1]) and _is_name(before[-1]) and before[-2] != "::":
        # One of the two is a macro, of a header that is not the user's perhaps.
        names = [w for w in (before[-1], name) if not (w in macros or w.isupper())]
        return names[0] if len(names) == 1 else None
    return name if _has_type(before) else None


def _has_type(words: Sequence[str]) -> bool:
    return any(w in "*&>" or w in _TYPE_WORDS or _is_name(w) for w in words)


def _without_attributes(words: list[str], macros: Collection[str]) -> list[str]:
    """Drops `[[...]]`, and attributes and macros with arguments in parentheses."""
    kept: list[str] = []
    at = 0
    while at < len(words):
        end = at
        if words[at : at + 2] == ["[", "["]:
            end = _after_balanced(words, at)
        elif words[at + 1 : at + 2] == ["("] and (
            words[at] in ATTRIBUTES or words[at] in macros
        ):
            end = _after_balanced(words, at + 1)
        if end == at:
            kept.append(words[at])
        at = max(end, at + 1)
    return kept


def _after_balanced(words: Sequence[str], at: int) -> int:
    """Returns the index after the partner of the bracket at `at`."""
    opening, depth = words[at], 0
    for index in range(at, len(words)):
        depth += {opening: 1, BRACKETS[opening]: -1}.get(words[index], 0)
        if depth == 0:
            return index + 1
    return len(words)


def drop_extents(words: list[str]) -> list[str]:
    """Returns an array declarator without its `[4]`."""
    while words and words[-1] == "]" and "[" in words:
        words = words[: len(words) - 1 - words[::-1].index("[")]
    return words


def _is_name(word: str) -> bool:
    return word.isidentifier() and word not in _QUALIFIERS | _TYPE_WORDS
