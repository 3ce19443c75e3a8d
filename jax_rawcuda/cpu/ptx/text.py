"""PTX text: comments, line tables, statements and single operands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._base.errors import UnsupportedError
from .instruction import Location

_FILE = re.compile(r'\.file\s+(\d+)\s+"(.*?)"')
_INLINED = re.compile(r"@\[ (\S+?):(\d+):(\d+)")
_MERGED = re.compile(r"@\[ (?![^@]+?:\d+:\d+ )")  # calls at several places: no column
# A comment may hold a quote or the start of another comment, a string both.
_BLOCK_COMMENT = re.compile(r'("[^"\n]*"|//[^\n]*)|/\*.*?\*/', re.DOTALL)
_LINE_COMMENT = re.compile(r'("[^"]*")|//.*')
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
        text = _BLOCK_COMMENT.sub(lambda found: found[1] or " ", text)
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
            if "//" in line:
                line = _LINE_COMMENT.sub(lambda found: found[1] or "", line)
            kept.append(line)
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
