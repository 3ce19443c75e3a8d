"""The user's text: is it text, and where does it stand in their file."""

from __future__ import annotations

import codecs
import dataclasses
import linecache
import os
import re
import sys
from pathlib import Path
from types import FrameType

from .._base.errors import ValidationError

_FILE_NAME = re.compile(r"\s*[^\s;(){}#\"]+\.[A-Za-z]\w{0,4}\s*")
_MAX_FILES = 8  # of the call stack; the text is rarely further away than two


@dataclasses.dataclass(frozen=True, slots=True)
class Location:
    """A line of a file, from 1."""

    file: str
    line: int = 1


def check_text(source: str, program_name: str) -> None:
    """Refuses what no compiler could read."""
    if "\0" in source:
        raise ValidationError(
            f"{program_name}: the source has a NUL character at index "
            f"{source.index(chr(0))}. Remove it."
        )
    if not source.strip():
        raise ValidationError(
            f"{program_name}: the source is empty. Give CUDA C++ with a "
            "__global__ function."
        )
    if _FILE_NAME.fullmatch(source):
        raise ValidationError(
            f"{program_name}: {source!r} is the name of a file, not its text. "
            f"Give pathlib.Path({source!r})."
        )
    try:
        source.encode()
    except UnicodeEncodeError as error:
        raise ValidationError(
            f"{program_name}: the source is not valid UTF-8 at index {error.start} "
            f"({source[error.start]!r}). Save it as UTF-8."
        ) from None


def read_source(path: Path) -> str:
    """Returns a source file's text, without a byte order mark.

    Raises:
      ValidationError: There is no such file, or it is not UTF-8.
    """
    data = read_file(path).removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValidationError(
            f"{path}:{line}: byte 0x{data[error.start]:02x} is not valid UTF-8. "
            "Save the file as UTF-8."
        ) from None


def read_file(path: Path) -> bytes:
    """Returns a file's bytes; a ValidationError when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ValidationError(
            f"{path}: the file cannot be read, {reason}. Give the path of a file."
        ) from None


def find_caller(source: str) -> Location | None:
    """Finds the line of user code where `source` begins.

    The frames above the package are searched, nearest first, for a file that contains
    the text. Text that a program put together is not found.
    """
    package = str(Path(__file__).parent.parent) + os.sep
    frame: FrameType | None = sys._getframe(1)
    seen = {__file__}
    while frame is not None and len(seen) <= _MAX_FILES:
        file = frame.f_code.co_filename
        if file not in seen and not file.startswith(package):
            seen.add(file)
            text = "".join(linecache.getlines(file, frame.f_globals))
            if text and (line := _line_of(source, text, frame.f_lineno)):
                return Location(file, line)
        frame = frame.f_back
    return None


def line_directive(location: Location) -> str:
    """Returns the `#line` that makes the next line read as `location`."""
    file = location.file.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {location.line} "{file}"\n'


def _line_of(source: str, text: str, near: int) -> int | None:
    """Line, from 1, at which `source` begins in `text`; of several, the nearest."""

    def distance(line: int) -> int:
        return abs(line - near)

    starts = [match.start() for match in re.finditer(re.escape(source), text)]
    if starts:
        exact = (text.count("\n", 0, start) + 1 for start in starts)
        return min(exact, key=distance)
    # A dedented text, or one with doubled backslashes in the file: go by whole lines.
    wanted = [line.strip() for line in source.split("\n")]
    present = [line.strip() for line in text.split("\n")]
    anchor = max(range(len(wanted)), key=lambda index: len(wanted[index]))
    firsts = (i - anchor for i, line in enumerate(present) if line == wanted[anchor])
    places = [first + 1 for first in firsts if _mostly_equal(wanted, present, first)]
    return min(places, key=distance, default=None)


def _mostly_equal(wanted: list[str], present: list[str], first: int) -> bool:
    if first < 0 or first + len(wanted) > len(present):
        return False
    pairs = [(a, b) for a, b in zip(wanted, present[first:], strict=False) if a]
    return len(pairs) > 1 and 2 * sum(a == b for a, b in pairs) > len(pairs)
