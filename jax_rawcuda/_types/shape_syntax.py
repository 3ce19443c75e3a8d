"""The `shapes` language: `"*rows w, n -> *rows (w//2)"` parsed.

shapes := side ["->" side]      side := [shape {"," shape}]
shape  := "()" | axis {axis} | {axis} GROUP {axis}
axis   := term {("+" | "-") term}
term   := atom {("*" | "//" | "%") atom}
atom   := INTEGER | NAME | "(" axis ")"
GROUP  := "*" NAME, with a space, ",", "->" or nothing in front of it, none inside
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
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


@dataclass(frozen=True, slots=True)
class Group:
    """Any number of axes, whose product is the dimension of that name."""

    name: str

    def __str__(self) -> str:
        return f"*{self.name}"


Expression: TypeAlias = Const | Dim | Arithmetic
Extents: TypeAlias = tuple[Expression, ...]
Shape: TypeAlias = tuple[Expression | Group, ...]


@dataclass(frozen=True, slots=True)
class ShapeSpec:
    """A parsed `shapes` text: what comes in, what goes out."""

    text: str
    inputs: tuple[Shape, ...]
    outputs: tuple[Shape, ...]

    @property
    def names(self) -> frozenset[str]:
        """Every dimension's name."""
        return self.input_names | _names_of(self.outputs)

    @property
    def input_names(self) -> frozenset[str]:
        """The dimensions that operands have."""
        return _names_of(self.inputs)


def _names_of(shapes: Iterable[Shape]) -> frozenset[str]:
    return frozenset().union(*(names_in(axis) for shape in shapes for axis in shape))


def names_in(axis: Expression | Group) -> frozenset[str]:
    """Returns the dimensions that `axis` reads."""
    if isinstance(axis, Arithmetic):
        return names_in(axis.left) | names_in(axis.right)
    return frozenset() if isinstance(axis, Const) else frozenset({axis.name})


def parse_shapes(text: str, *, owner: str = "shapes") -> ShapeSpec:
    """Parses a whole contract.

    Raises:
      ValidationError: With the text and a caret under the fault; or a group of axes
        that only results have.
    """
    parser = _Parser(text, owner, "shapes")
    inputs = parser.side()
    outputs = parser.side() if parser.accept("->") else ()
    parser.end()
    groups = {axis for shape in inputs for axis in shape if isinstance(axis, Group)}
    for axis in itertools.chain(*outputs):
        if isinstance(axis, Group) and axis not in groups:
            raise ValidationError(
                f'{owner}: shapes="{text}" has the group {axis} in a result only, and '
                f"no operand to take its axes from. Give an operand {axis}, write the "
                "axes out, or declare the results with out=."
            )
    return ShapeSpec(text, inputs, outputs)


def parse_axes(text: str, *, owner: str, what: str) -> Extents:
    """Parses axes without commas and groups, as in `threads="w h"`."""
    parser = _Parser(text, owner, what)
    axes = () if parser.empty() else parser.axes()
    parser.end()
    return axes


_MAX_OPERATORS = 100  # in an axis: what reads it recurses as deep
_MAX_DIGITS = 19  # as 2**63 has; Python prints no number of thousands

# `a *b` is an axis and a group; `a*b` and `a * b` are products.
_GROUP = r"(?<![^\s,>])\*[A-Za-z_]\w*"
_TOKEN = re.compile(rf"\s*(?:{_GROUP}|->|//|[-+*%(),]|\d+|[A-Za-z_]\w*|\S)")


class _Parser:
    """Recursive descent over one text; `position` is where the next token starts."""

    def __init__(self, text: str, owner: str, what: str) -> None:
        if not isinstance(text, str):
            raise ValidationError(f"{owner}: {what} needs text, got {text!r}.")
        self.text, self.owner, self.what, self.position = text, owner, what, 0
        self.operators = 0  # and parentheses, in the axis that is read

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
        found, advice = f"'{self.peek()}'" if self.peek() else "the end", ""
        if self.at_group():
            name = self.peek()[1:]
            advice = (
                f" That is a group of axes: {name} alone is their product, and a "
                f"product is written a*{name}."
            )
        raise ValidationError(
            f"{self.owner}: {self.what} needs {expected} at column {column + 1}, "
            f"found {found}.{advice}\n  {self.text}\n  {' ' * column}^"
        )

    def side(self) -> tuple[Shape, ...]:
        if self.peek() in ("", "->"):
            return ()
        shapes = [self.shape()]
        while self.accept(","):
            shapes.append(self.shape())
        return tuple(shapes)

    def shape(self) -> Shape:
        if self.peek() in ("", ",", "->"):
            self.fail("a shape (dimensions, or () for no axes)")
        if self.empty():
            return ()
        before = () if self.at_group() else self.axes()
        if not self.at_group():
            return before
        group = Group(self.take()[1:])
        if self.peek() in ("+", "-", "*", "//", "%"):
            product = f"{group.name} alone is their product"
            self.fail(f"an axis, ',', '->' or the end after {group} ({product})")
        after = self.axes() if self.at_axis() else ()
        if self.at_group():
            self.fail("at most one group of axes in a shape")
        return (*before, group, *after)

    def empty(self) -> bool:
        start = self.position
        if self.accept("(") and self.accept(")"):
            return True
        self.position = start
        return False

    def axes(self) -> Extents:
        axes = [self.axis()]
        while self.at_axis():
            axes.append(self.axis())
        return tuple(axes)

    def axis(self) -> Expression:
        self.operators = 0
        return self.sum()

    def at_axis(self) -> bool:
        token = self.peek()
        return token == "(" or token[:1].isidentifier() or token.isdigit()

    def at_group(self) -> bool:
        return len(self.peek()) > 1 and self.peek()[0] == "*"

    def operator(self, *tokens: str) -> str:
        if self.peek() in tokens and self.operators == _MAX_OPERATORS:
            self.fail(f"at most {_MAX_OPERATORS} operators and parentheses in an axis")
        operator = self.accept(*tokens)
        self.operators += bool(operator)
        return operator

    def sum(self) -> Expression:
        left = self.product()
        while operator := self.operator("+", "-"):
            left = Arithmetic(operator, left, self.product())
        return left

    def product(self) -> Expression:
        left = self.atom()
        while operator := self.operator("*", "//", "%"):
            left = Arithmetic(operator, left, self.atom())
        return left

    def atom(self) -> Expression:
        token = self.peek()
        if self.operator("("):
            inner = self.sum()
            if not self.accept(")"):
                self.fail("')'")
            return inner
        if token.isdecimal():
            if len(token) > _MAX_DIGITS:
                self.fail(f"an integer of at most {_MAX_DIGITS} digits")
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
