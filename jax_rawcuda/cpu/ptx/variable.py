"""A variable that PTX declares, and how its declaration is read."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..._base.errors import UnsupportedError
from ..._base.text import split_top_level
from .types import SIZES

_SPACES = (".param", ".shared", ".global", ".local", ".const", ".reg")
_LINKAGE = (".visible", ".weak", ".common", ".managed", ".unified")
_POINTER = re.compile(r"\.ptr\s+(\.(global|shared|const|local)\s+)?(\.align\s+\d+\s+)?")
_ATTRIBUTE = re.compile(r"\.attribute\s*\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Variable:
    """A declared variable or parameter.

    Attributes:
      name: Unique in its function or module.
      space: param, shared, global, local or const.
      type: PTX type of one element.
      align: Alignment, in bytes.
      count: Number of elements; 0 for an array without a size.
      extern: Whether another module, or the launch, provides it.
      initializer: The text after `=`, or "".
    """

    name: str
    space: str
    type: str
    align: int
    count: int
    extern: bool = False
    initializer: str = ""

    @property
    def size(self) -> int:
        """Size in bytes."""
        return SIZES[self.type] * self.count

    def renamed(self, name: str) -> Variable:
        """Returns a copy under another name."""
        fields = (self.space, self.type, self.align, self.count)
        return Variable(name, *fields, self.extern, self.initializer)


def parse_variable(text: str) -> Variable:
    """Parses a declaration such as `.shared .align 4 .b8 tile[1024]`.

    Raises:
      UnsupportedError: It is not understood.
    """
    declaration, _, initializer = text.partition("=")
    try:
        return _parse(declaration.strip(), initializer.strip())
    except (IndexError, ValueError) as error:
        raise UnsupportedError(
            f"declaration `{declaration.strip()}` is not supported"
        ) from error


def _parse(declaration: str, initializer: str) -> Variable:
    words = _ATTRIBUTE.sub(" ", _POINTER.sub(" ", declaration))
    space, kind, name, align, lanes = "", "", "", 0, 1
    dimensions: list[str] = []
    extern = False
    queue = words.replace("[", " [").split()
    while queue:
        word = queue.pop(0)
        if word == ".align":
            align = int(queue.pop(0))
        elif word == ".extern":
            extern = True
        elif word in _SPACES:
            space = word[1:]
        elif word in (".v2", ".v4"):
            lanes = int(word[2])
        elif word[1:] in SIZES and word[0] == ".":
            kind = word[1:]
        elif word[0] == "[":
            dimensions.append(word.strip("[]").strip())
        elif word[0] != ".":
            name = word
        elif word not in _LINKAGE:
            raise UnsupportedError(
                f"declaration `{declaration}`: {word} is not supported"
            )
    if not kind:
        raise UnsupportedError(f"declaration `{declaration}` has no known type")
    count = lanes
    for size in dimensions:
        # The one dimension that may be missing is taken from the initialiser.
        count *= int(size) if size else len(split_top_level(initializer.strip("{} ")))
    return Variable(
        name, space, kind, align or SIZES[kind] * lanes, count, extern, initializer
    )
