"""The `shapes` language: `"h w, n -> (h//2) (w//2)"` parsed.

shapes := side ["->" side]      side := [shape {"," shape}]
shape  := "()" | axis {axis}    axis := term {("+" | "-") term}
term   := atom {("*" | "//" | "%") atom}
atom   := INTEGER | NAME | "(" axis ")"
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from .._base.errors import ValidationError


@dataclass(frozen=True, slots=True)
class Const:
    """An integer."""

    value: int

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Dim:
    """A named dimension."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two expressions and `+`, `-`, `*`, `//` or `%`."""

    operator: str
    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"({self.left}{self.operator}{self.right})"


Expression: TypeAlias = Const | Dim | Arithmetic
Shape: TypeAlias = tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ShapeSpec:
    """A parsed `shapes` text: what comes in, what goes out."""

    text: str
    inputs: tuple[Shape, ...]
    outputs: tuple[Shape, ...]

    @property
    def names(self) -> frozenset[str]:
        """Every dimension's name."""
        axes = (axis for shape in (*self.inputs, *self.outputs) for axis in shape)
        return frozenset().union(*map(names_in, axes))


def names_in(expression: Expression) -> frozenset[str]:
    """Returns the dimensions that `expression` reads."""
    if isinstance(expression, Arithmetic):
        return names_in(expression.left) | names_in(expression.right)
    return frozenset({expression.name} if isinstance(expression, Dim) else ())


def parse_shapes(text: str, *, owner: str = "shapes") -> ShapeSpec:
    """Parses a whole contract.

    Raises:
      ValidationError: With the text and a caret under the fault.
    """
    parser = _Parser(text, owner, "shapes")
    inputs = parser.side()
    outputs = parser.side() if parser.accept("->") else ()
    parser.end()
    return ShapeSpec(text, inputs, outputs)


def parse_axes(text: str, *, owner: str, what: str) -> Shape:
    """Parses axes without commas, as in `threads="w h"`."""
    parser = _Parser(text, owner, what)
    axes = parser.shape()
    parser.end()
    return axes


_TOKEN = re.compile(r"\s*(?:(->|//|[-+*%(),])|(\d+)|([A-Za-z_]\w*)|(\S))")


class _Parser:
    """Recursive descent over one text; `position` is where the next token starts."""

    def __init__(self, text: str, owner: str, what: str) -> None:
        if not isinstance(text, str):
            raise ValidationError(f"{owner}: {what} needs text, got {text!r}.")
        self.text, self.owner, self.what, self.position = text, owner, what, 0

    def peek(self) -> str:
        match = _TOKEN.match(self.text, self.position)
        return match[0].strip() if match else ""

    def accept(self, *tokens: str) -> str:
        if (token := self.peek()) not in tokens or not token:
            return ""
        return self.take()

    def take(self) -> str:
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            self.fail("a dimension")
        self.position = match.end()
        return match[0].strip()

    def fail(self, expected: str) -> NoReturn:
        rest = self.text[self.position :]
        column = self.position + len(rest) - len(rest.lstrip())
        found = f"'{self.peek()}'" if self.peek() else "the end"
        raise ValidationError(
            f"{self.owner}: {self.what} needs {expected} at column {column + 1}, "
            f"found {found}.\n  {self.text}\n  {' ' * column}^"
        )

    def side(self) -> tuple[Shape, ...]:
        if self.peek() in ("", "->"):
            return ()
        shapes = [self.shape()]
        while self.accept(","):
            shapes.append(self.shape())
        return tuple(shapes)

    def shape(self) -> Shape:
        start = self.position
        if self.accept("("):
            if self.accept(")"):
                return ()
            self.position = start
        axes = [self.sum()]
        while self.peek() == "(" or self.peek()[:1].isidentifier() or self.is_number():
            axes.append(self.sum())
        return tuple(axes)

    def is_number(self) -> bool:
        return self.peek().isdigit()

    def sum(self) -> Expression:
        left = self.product()
        while operator := self.accept("+", "-"):
            left = Arithmetic(operator, left, self.product())
        return left

    def product(self) -> Expression:
        left = self.atom()
        while operator := self.accept("*", "//", "%"):
            left = Arithmetic(operator, left, self.atom())
        return left

    def atom(self) -> Expression:
        token = self.peek()
        if self.accept("("):
            inner = self.sum()
            if not self.accept(")"):
                self.fail("')'")
            return inner
        if token.isdecimal():
            number = Const(int(self.take()))
            if self.text[self.position : self.position + 1].isidentifier():
                self.fail("'*' or a space between a number and a name")
            return number
        if not token.isidentifier():
            self.fail("a dimension (a name, an integer or a parenthesis)")
        return Dim(self.take())

    def end(self) -> None:
        if self.peek():
            self.fail("an operator, ',', '->' or the end")
