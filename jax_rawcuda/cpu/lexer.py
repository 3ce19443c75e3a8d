"""PTX text: comments, line tables, statements and single operands."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator

from .._errors import UnsupportedError
from . import special
from .operands import (
    Arguments,
    Float,
    Integer,
    Location,
    Memory,
    Negative,
    Not,
    Operand,
    Pair,
    Sink,
    Special,
    Symbol,
    Tensor,
    Vector,
)

_FLOAT = re.compile(r"0[fF]([0-9a-fA-F]{8})$|0[dD]([0-9a-fA-F]{16})$")
_DECIMAL = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?$")
_INTEGER = re.compile(r"(-?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)U?$")
_OFFSET = re.compile(r"(.*?)\s*\+\s*(-?\w+)$")
_FILE = re.compile(r'\.file\s+(\d+)\s+"(.*?)"')
_INLINED = re.compile(r"@\[ (\S+?):(\d+):(\d+)")
_MERGED = re.compile(r"@\[ (?![^@]+?:\d+:\d+ )")  # calls at several places: no column
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_DROPPED = (".version", ".target", ".address_size")
# Stands for a `.loc` line in cleaned text, followed by an index into the line table.
LOC = ".loc#"
_NEAR = "near"  # ends a place that may be another one


def clean(text: str) -> tuple[str, tuple[Location, ...]]:
    """Removes comments and debug sections.

    Returns:
      The text, with `.loc#N;` for each line directive, and the table of locations.
    """
    if "/*" in text:
        text = _COMMENT.sub(" ", text)
    files: dict[int, str] = {}
    places: list[list[str]] = []
    kept: list[str] = []
    in_section = False
    for line in text.splitlines():
        word = line.strip()
        if in_section:
            in_section = not word.startswith("}")
        elif word.startswith((".loc ", ".loc\t")):
            words = _place_words(word)
            if words[2] == "0":  # no line at all: the last one is closest
                words = [*places[-1], _NEAR] if places else []
            if words:
                kept.append(f"{LOC}{len(places)};")
                places.append(words)
        elif word.startswith(".file"):
            if match := _FILE.match(word):
                files[int(match[1])] = match[2]
        elif word.startswith(".section"):
            in_section = "}" not in word
        elif not word.startswith(_DROPPED):
            kept.append(line if '"' in line else line.partition("//")[0])
    return "\n".join(kept), tuple(_location(words, files) for words in places)


def _place_words(directive: str) -> list[str]:
    """Splits a `.loc`. clang says in a comment where the function was inlined."""
    code, _, comment = directive.partition("//")
    words = code.replace(",", " ").split()
    outer = _INLINED.findall(comment)
    if outer and "inlined_at" not in words:
        words += ["inlined_at", *outer[-1]]
    if _MERGED.search(comment):
        words.append(_NEAR)
    return words


def _location(words: list[str], files: dict[int, str]) -> Location:
    def place(start: int, outer: Location | None) -> Location:
        file, line, column = words[start : start + 3]
        name = files.get(int(file), "?") if file.isdigit() else file
        return Location(name, int(line), int(column), outer, _NEAR not in words)

    if "inlined_at" not in words:
        return place(1, None)
    return place(1, place(words.index("inlined_at") + 1, None))


_ITEM_STOP = re.compile(r'[;"(){]')


def items(text: str) -> Iterator[tuple[str, str | None]]:
    """Yields (head, body) of each top-level declaration; body is None without one."""
    position = 0
    while position < len(text):
        start, depth = position, 0
        while True:
            match = _ITEM_STOP.search(text, position)
            if match is None:
                return
            stop, position = match[0], match.end()
            if stop == '"':
                position = find(text, '"', position) + 1
            elif stop in "()":
                depth += 1 if stop == "(" else -1
            elif depth:
                continue
            elif stop == ";":
                yield text[start : position - 1].strip(), None
                break
            elif "=" in text[start : position - 1]:
                position = _closing(text, position)
            else:
                end = _closing(text, position)
                yield text[start : position - 1].strip(), text[position : end - 1]
                position = end
                break


def find(text: str, mark: str, position: int) -> int:
    """Returns the index of the next `mark` in a text.

    Raises:
      UnsupportedError: There is none: the text is cut off.
    """
    found = text.find(mark, position)
    if found < 0:
        raise UnsupportedError(f"the PTX ends where a {mark} is missing")
    return found


def _closing(text: str, position: int) -> int:
    """Returns the index after the brace that closes the one before `position`."""
    depth = 1
    while depth:
        closing = find(text, "}", position)
        depth += text.count("{", position, closing) - 1
        position = closing + 1
    return position


def split(text: str) -> list[str]:
    """Splits at the commas outside brackets."""
    if not any(bracket in text for bracket in "([{"):
        return [part.strip() for part in text.split(",")] if text.strip() else []
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and not depth:
            parts.append(text[start:index].strip())
            start = index + 1
    last = text[start:].strip()
    return [*parts, last] if last or parts else []


def parse_integer(text: str) -> int | None:
    """Parses a PTX integer constant; None if it is something else."""
    match = _INTEGER.match(text)
    if not match:
        return None
    digits = match[2]
    base = {"x": 16, "b": 2}.get(digits[1:2].lower(), 8 if digits[0] == "0" else 10)
    value = int(digits[2:] if base in (2, 16) else digits, base)
    return -value if match[1] else value


def parse_float(text: str) -> Float | None:
    """Parses a float constant (`0f3F800000`, `1.0`); None if it is something else."""
    if _DECIMAL.match(text):
        return Float(int.from_bytes(struct.pack(">d", float(text))), 64)
    match = _FLOAT.match(text)
    if not match:
        return None
    return Float(int(match[1] or match[2], 16), 32 if match[1] else 64)


def parse_operand(text: str, resolve: Callable[[str], Operand | None]) -> Operand:
    """Parses one operand.

    Args:
      text: Such as `[%rd4+8]`.
      resolve: Maps a name that the function declares to its register or symbol.
    """
    text = text.strip()
    if (found := resolve(text)) is not None:
        return found

    def inner(part: str) -> Operand:
        return parse_operand(part, resolve)

    match text[:1]:
        case "[":
            return _parse_memory(text[1:-1].strip(), inner)
        case "{":
            return Vector(tuple(inner(part) for part in split(text[1:-1])))
        case "(":
            return Arguments(tuple(inner(part) for part in split(text[1:-1])))
        case "!":
            return Not(inner(text[1:]))
    if "|" in text:
        first, second = text.split("|")
        return Pair(inner(first), inner(second))
    if text == "_":
        return Sink()
    if (constant := parse_float(text)) is not None:
        return constant
    if (number := parse_integer(text)) is not None:
        return Integer(number)
    if special.is_special(text):
        return Special(text)
    if match := _OFFSET.match(text):
        base, offset = inner(match[1]), parse_integer(match[2])
        if isinstance(base, Symbol) and offset is not None:
            return Symbol(base.name, base.offset + offset)
    if text.startswith("-"):
        return Negative(inner(text[1:]))
    return Symbol(text)


def _parse_memory(text: str, inner: Callable[[str], Operand]) -> Operand:
    if "," in text:
        return Tensor(tuple(inner(part) for part in split(text)))
    match = _OFFSET.match(text)
    if not match:
        return Memory(inner(text))
    offset = parse_integer(match[2])
    if offset is None:
        raise UnsupportedError(f"address [{text}] is not available on the CPU")
    return Memory(inner(match[1]), offset)
