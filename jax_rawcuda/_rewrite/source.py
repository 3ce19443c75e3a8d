"""PTX text with the places of its declarations and instructions, to be edited there.

The reader of the CPU route says what an instruction means, but not where it stands. So
the text is cut a second time, by position, and both must find the same instructions.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Iterator
from typing import Literal

from .._base.errors import UnsupportedError
from ..cpu import Function, Instruction, Module, parse

# What reading raises. Nobody checks PTX that was not written by a compiler: there is no
# end to what can be wrong with it.
UNREADABLE = (UnsupportedError, LookupError, ValueError)

Kind = Literal["function", "variable", "section", "directive"]

_HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"\n]*"', re.DOTALL)
_PRINTED = re.compile(r"[^\n]")
_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"[A-Za-z_$%][\w$]*")
_DIRECTIVE = re.compile(
    r"\.(?:version|address_size)\s+[\d.]+|\.target\s+[\w, \t]+|\.(?:file|loc)\b[^\n]*"
)
_STOP = re.compile(r"[;{=(]")
_FUNCTION = re.compile(
    r"\.(?:entry|func)\b(?:\s*\.attribute\s*\([^)]*\))?(?:\s*\([^)]*\))?\s*([\w$%]+)"
)
_VARIABLE = re.compile(r"\.(?:global|const|shared|local|texref|surfref|samplerref)\b")
_EXTENTS = re.compile(r"\[[^\]]*\]|\.attribute\s*\([^)]*\)")
# What may stand between the instructions of a body: scopes, lines, labels, directives.
_LINE = re.compile(r"\.(?:loc|file)\b[^\n]*")
_LABEL = re.compile(r"[\w$]+\s*:(?!:)")


@dataclasses.dataclass(frozen=True, slots=True)
class Item:
    """A declaration outside of all functions.

    Attributes:
      kind: What is declared; an alias counts as a function.
      name: Of the function or variable, else "".
      start: Where it begins in the text.
      end: Where it ends, exclusive.
      body: The span inside the braces of a function.
    """

    kind: Kind
    name: str
    start: int
    end: int
    body: tuple[int, int] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Statement:
    """An instruction and its place.

    Attributes:
      start: Where it begins in the text, with its guard.
      end: Where its semicolon stands.
      instruction: What it is.
    """

    start: int
    end: int
    instruction: Instruction


@dataclasses.dataclass(frozen=True, slots=True)
class Edit:
    """A span of the text, and what takes its place."""

    start: int
    end: int
    text: str


class Source:
    """PTX text.

    Attributes:
      text: As it was given.
      blanked: The same with blanks for comments and for what is in strings.
      items: Its declarations, in order.
    """

    def __init__(self, text: str) -> None:
        """Finds the declarations.

        Raises:
          UnsupportedError: The text is cut off.
        """
        self.text = text
        self.blanked = _HIDDEN.sub(_blank, text)
        self.items = tuple(_items(self.blanked))
        self._statements: dict[str, tuple[Statement, ...]] = {}

    @functools.cached_property
    def module(self) -> Module:
        """What the reader makes of the text.

        Raises:
          UnsupportedError: It has a declaration that the reader does not know.
        """
        return parse(self.text)

    @functools.cached_property
    def definitions(self) -> dict[str, Item]:
        """The functions that have a body, by name."""
        return {item.name: item for item in self.items if item.body}

    def function(self, name: str) -> Function:
        """Returns what the reader makes of a function in `definitions`.

        Raises:
          UnsupportedError: It calls it otherwise.
        """
        if name not in self.module.functions:
            raise UnsupportedError(f"function {name} is declared in an unusual way")
        return self.module.functions[name]

    def words(self, item: Item) -> frozenset[str]:
        """Returns all names in a declaration."""
        return frozenset(_WORD.findall(self.blanked, item.start, item.end))

    def statements(self, name: str) -> tuple[Statement, ...]:
        """Returns the instructions of a function in `definitions`, in order.

        Raises:
          UnsupportedError: The reader does not know how to read one.
        """
        if name not in self._statements:
            self._statements[name] = self._read(name)
        return self._statements[name]

    def _read(self, name: str) -> tuple[Statement, ...]:
        body = self.definitions[name].body or (0, 0)
        spans = list(instruction_spans(self.blanked, *body))
        found = [
            statement
            for statement in self.function(name).body.statements
            if isinstance(statement, Instruction)
        ]
        texts = [" ".join(self.blanked[start:end].split()) for start, end in spans]
        if texts != [instruction.line for instruction in found]:
            raise UnsupportedError(f"the statements of {name} cannot be told apart")
        return tuple(
            Statement(start, end, instruction)
            for (start, end), instruction in zip(spans, found, strict=True)
        )

    def reachable(self, entry: str) -> list[Item]:
        """Returns the declarations that an entry needs, in order, all directives too.

        A mere mention counts: of a function whose address is taken nobody knows where
        it is called.
        """
        named: dict[str, list[Item]] = {}
        for item in self.items:
            if item.name:
                named.setdefault(item.name, []).append(item)
        found: set[str] = set()
        todo = [entry]
        while todo:
            name = todo.pop()
            if name in found:
                continue
            found.add(name)
            for item in named[name]:
                todo += self.words(item) & named.keys()
        return [
            item
            for item in self.items
            if item.name in found or item.kind == "directive"
        ]

    def apply(self, items: Iterable[Item], edits: Iterable[Edit]) -> str:
        """Returns the text of some items, edited.

        Args:
          items: In order.
          edits: Inside of the items; no two overlap. Of several that insert at one
            place, the first comes first.
        """
        waiting = sorted(edits, key=lambda edit: (edit.start, edit.end))
        waiting.reverse()  # what is inserted at one place keeps its order
        parts: list[str] = []
        for item in items:
            position = item.start
            while waiting and waiting[-1].start < item.end:
                edit = waiting.pop()
                parts += self.text[position : edit.start], edit.text
                position = edit.end
            parts += self.text[position : item.end], "\n"
        return "".join(parts)


@functools.lru_cache(maxsize=8)
def read_source(text: str) -> Source:
    """Returns the source of a text, of which many kernels may be asked for.

    Raises:
      UnsupportedError: The text is cut off.
    """
    return Source(text)


def instruction_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields the spans of the instructions in a body, without their semicolons.

    Args:
      text: PTX without comments.
      start: Where the body begins.
      end: Where it ends.
    """
    position = start
    while (position := _skip(_SPACE, text, position)) < end:
        if text[position] in "{};":
            position += 1
        elif found := _LINE.match(text, position) or _LABEL.match(text, position):
            position = found.end()
        else:
            stop = _find(text, ";", position)
            if text[position] != ".":
                yield position, stop
            position = stop + 1


def first_statement(text: str, start: int, end: int) -> int:
    """Returns where a body's declarations end: at its first label or instruction.

    Or at a pragma, which belongs to what follows it.
    """
    position = start
    while (position := _skip(_SPACE, text, position)) < end:
        if found := _LINE.match(text, position):
            position = found.end()
        elif text[position] != "." or text.startswith(".pragma", position):
            break
        else:
            position = _find(text, ";", position) + 1
    return position


def _blank(found: re.Match[str]) -> str:
    blank = _PRINTED.sub(" ", found[0])
    return f'"{blank[2:]}"' if found[0][0] == '"' else blank


def _skip(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


def _find(text: str, mark: str, position: int) -> int:
    found = text.find(mark, position)
    if found < 0:
        raise UnsupportedError(f"the PTX ends where a {mark} is missing")
    return found


def _after(text: str, opening: int) -> int:
    """Returns the position behind the bracket that closes the one at `opening`."""
    pair = text[opening] + {"(": ")", "{": "}"}[text[opening]]
    brackets = re.compile(f"[{re.escape(pair)}]")
    depth, position = 1, opening + 1
    while depth:
        found = brackets.search(text, position)
        if found is None:
            raise UnsupportedError(f"the PTX ends where a {pair[1]} is missing")
        depth += 1 if found[0] == pair[0] else -1
        position = found.end()
    return position


def _items(text: str) -> Iterator[Item]:
    position = 0
    while (start := _skip(_SPACE, text, position)) < len(text):
        if found := _DIRECTIVE.match(text, start):
            position = found.end()
            yield Item("directive", "", start, position)
            continue
        stop = start
        while True:
            mark = _STOP.search(text, stop)
            if mark is None:
                raise UnsupportedError("the PTX ends where a ; is missing")
            stop = mark.start()
            if mark[0] != "(":
                break
            stop = _after(text, stop)
        head, body = text[start:stop], None
        if mark[0] == "{":
            position = _after(text, stop)
            body = stop + 1, position - 1
        else:
            position = _find(text, ";", stop) + 1
        yield _item(head, start, position, body)


def _item(head: str, start: int, end: int, body: tuple[int, int] | None) -> Item:
    # What `.loc` calls inlined functions stands here; other sections name what may go.
    if head.startswith(".section") and head.split()[1:] != [".debug_str"]:
        return Item("section", "", start, end)
    if found := _FUNCTION.search(head):
        return Item("function", found[1], start, end, body)
    head = _EXTENTS.sub(" ", head)
    words = _WORD.findall(head)
    if head.startswith(".alias"):
        return Item("function", words[1], start, end)
    if _VARIABLE.search(head):
        if "," in head:
            raise UnsupportedError(f"`{' '.join(head.split())}` declares several names")
        return Item("variable", words[-1], start, end)
    return Item("directive", "", start, end)
