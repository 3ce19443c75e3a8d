"""PTX text: its declarations, their bodies, and where the lines come from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..._base.errors import UnsupportedError
from .instruction import Location

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# A comment may hold a quote or the start of another comment, a string both.
_BLOCK_COMMENT = re.compile(r'("[^"\n]*"|//[^\n]*)|/\*.*?\*/', re.DOTALL)
_LINE_COMMENT = re.compile(r'("[^"]*")|//.*')
# Between declarations. Directives of a line may not share it with anything else.
_BETWEEN = re.compile(
    r"(?:\s+|;|//[^\n]*|/\*.*?\*/|\.(?:version|target|address_size|file|loc)\b[^\n]*)*",
    re.DOTALL,
)
# What ends a declaration's head, and what may hide such an end.
_STOP = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"\n]*"|;|\(|\)|\{', re.DOTALL)
_BRACE = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"\n]*"|\{|\}', re.DOTALL)

_FILE = re.compile(r'^[ \t]*\.file\s+(\d+)\s+"(.*?)"', re.MULTILINE)
_INLINED = re.compile(r"@\[ (\S+?):(\d+):(\d+)")
_MERGED = re.compile(r"@\[ (?![^@]+?:\d+:\d+ )")  # calls at several places: no column
# Stands for a `.loc` line in cleaned text, followed by an index into the line table.
LOC = ".loc#"
_NEAR = "near"  # ends a place that may be another one


def items(text: str) -> Iterator[tuple[str, str | None]]:
    """Yields (head, body) of each declaration; body is None without one.

    Bodies are passed over, not read: libraries leave hundreds of functions that nobody
    calls.

    Raises:
      UnsupportedError: The text is cut off in parentheses or in a body.
    """
    position = _skip(text, 0)
    while position < len(text):
        start, depth = position, 0
        while True:
            match = _STOP.search(text, position)
            if match is None:
                if depth:
                    raise _cut_off(")")
                return
            stop, position = match[0], match.end()
            if stop in ("(", ")"):
                depth += 1 if stop == "(" else -1
            elif depth or stop not in (";", "{"):
                continue
            elif stop == ";":
                yield _head(text[start : match.start()]), None
                break
            elif "=" in text[start : match.start()]:
                position = _closing(text, position)
            else:
                end = _closing(text, position)
                yield _head(text[start : match.start()]), text[position : end - 1]
                position = end
                break
        position = _skip(text, position)


def _skip(text: str, position: int) -> int:
    between = _BETWEEN.match(text, position)
    return between.end() if between else position


def _head(text: str) -> str:
    return _COMMENT.sub(" ", text).strip()


def _closing(text: str, position: int) -> int:
    """Returns the index after the brace that closes the one before `position`."""
    depth = 1
    for match in _BRACE.finditer(text, position):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if not depth:
            return match.end()
    raise _cut_off("}")


def find(text: str, mark: str, position: int) -> int:
    """Returns the index of the next `mark` in a text.

    Raises:
      UnsupportedError: There is none: the text is cut off.
    """
    found = text.find(mark, position)
    if found < 0:
        raise _cut_off(mark)
    return found


def _cut_off(mark: str) -> UnsupportedError:
    return UnsupportedError(f"the PTX ends where a {mark} is missing")


def file_names(text: str) -> dict[int, str]:
    """Returns the source files of a PTX text, by the number that `.loc` gives."""
    return {int(number): name for number, name in _FILE.findall(text)}


def clean(body: str, files: Mapping[int, str]) -> tuple[str, tuple[Location, ...]]:
    """Removes comments from a function's body, and the words of line directives.

    Args:
      body: What stands between the function's braces.
      files: Names of source files, by number.

    Returns:
      The text, with `.loc#N;` for each line directive, and the table of locations.
    """
    if "/*" in body:
        body = _BLOCK_COMMENT.sub(lambda found: found[1] or " ", body)
    places: list[list[str]] = []
    kept: list[str] = []
    for line in body.splitlines():
        word = line.strip()
        if word.startswith((".loc ", ".loc\t")):
            words = _place_words(word)
            if words[2] == "0":  # no line at all: the last one is closest
                words = [*places[-1], _NEAR] if places else []
            if words:
                kept.append(f"{LOC}{len(places)};")
                places.append(words)
        elif not word.startswith(".file"):
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


def _location(words: list[str], files: Mapping[int, str]) -> Location:
    def place(start: int, outer: Location | None) -> Location:
        file, line, column = words[start : start + 3]
        name = files.get(int(file), "?") if file.isdigit() else file
        return Location(name, int(line), int(column), outer, _NEAR not in words)

    if "inlined_at" not in words:
        return place(1, None)
    return place(1, place(words.index("inlined_at") + 1, None))
