"""The `shapes` language: `"h w, n -> (h//2) (w//2)"` parsed once, solved per call.

shapes := side ["->" side]      side := [shape {"," shape}]
shape  := "()" | axis {axis}    axis := term {("+" | "-") term}
term   := atom {("*" | "//" | "%") atom}
atom   := INTEGER | NAME | "(" axis ")"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from ._errors import ValidationError


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


def evaluate(expression: Expression, sizes: Mapping[str, int], *, owner: str) -> int:
    """Computes `expression`; errors start with `owner`."""
    if isinstance(expression, Const):
        return expression.value
    if isinstance(expression, Dim):
        if expression.name not in sizes:
            known = ", ".join(sorted(sizes)) or "none"
            raise ValidationError(
                f"{owner} reads '{expression.name}', which no operand fixes "
                f"(known: {known})."
            )
        return sizes[expression.name]
    left = evaluate(expression.left, sizes, owner=owner)
    right = evaluate(expression.right, sizes, owner=owner)
    if expression.operator in ("//", "%") and right == 0:
        raise ValidationError(f"{owner}: {expression} divides by zero.")
    return _OPERATORS[expression.operator](left, right)


def evaluate_shape(
    shape: Shape, sizes: Mapping[str, int], *, owner: str
) -> tuple[int, ...]:
    """Computes a whole shape, whose extents cannot be negative."""
    extents = tuple(evaluate(axis, sizes, owner=owner) for axis in shape)
    for axis, extent in zip(shape, extents, strict=True):
        if extent < 0:
            raise ValidationError(
                f"{owner}: {axis} is {extent}; it cannot be negative."
            )
    return extents


def solve(
    spec: ShapeSpec,
    operands: Sequence[tuple[str, tuple[int, ...]]],
    *,
    owner: str,
    known: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """Finds the dimensions from the operands' shapes.

    Args:
      spec: Its inputs stand for `operands`, one to one.
      operands: (name, shape) pairs.
      owner: The kernel, named in errors.
      known: Dimensions that scalar arguments give.

    Raises:
      ValidationError: A rank or a dimension differs from the contract.
    """
    sizes = dict(known or {})
    origin = dict.fromkeys(sizes, "the scalar argument")
    pending: list[_Item] = []
    for (name, shape), axes in zip(operands, spec.inputs, strict=True):
        if len(shape) != len(axes):
            raise ValidationError(
                f"{owner}: operand '{name}' has shape {shape} of rank {len(shape)}, "
                f'but shapes="{spec.text}" needs {_show(axes)} of rank {len(axes)}.'
            )
        for axis, extent in zip(axes, shape, strict=True):
            pending.append((name, axis, extent, shape, axes))
    # Bare names first: they fix what the expressions of other operands read.
    pending.sort(key=lambda item: not isinstance(item[1], Dim))
    while pending:
        item, solved = _next_axis(pending, sizes)
        pending.remove(item)
        name, axis, extent, shape, axes = item
        where = f"{owner}: operand '{name}'"
        if solved is not None:
            sizes.update([solved])
            origin[solved[0]] = f"operand '{name}'"
        elif free := names_in(axis) - sizes.keys():
            raise ValidationError(
                f'{where} has shape {shape}, from which shapes="{spec.text}" cannot '
                f"fix {', '.join(sorted(free))} (axis {axis} is {extent})."
            )
        if (needed := evaluate(axis, sizes, owner=where)) != extent:
            reasons = ", ".join(
                f"{n}={sizes[n]} from {origin[n]}" for n in sorted(names_in(axis))
            )
            raise ValidationError(
                f'{where} has shape {shape}, but shapes="{spec.text}" needs '
                f"{_show(axes)}: axis {axis} is {extent}, required {needed}"
                f"{f' ({reasons})' if reasons else ''}."
            )
    return sizes


_Item: TypeAlias = tuple[str, Expression, int, tuple[int, ...], Shape]


def _next_axis(
    pending: Sequence[_Item], sizes: Mapping[str, int]
) -> tuple[_Item, tuple[str, int] | None]:
    """Picks an axis that can be checked or solved now, else any."""
    for item in pending:
        if names_in(item[1]) <= sizes.keys():
            return item, None
        if (solved := _invert(item[1], item[2], sizes)) is not None:
            return item, solved
    return pending[0], None


def _show(axes: Iterable[Expression]) -> str:
    parts = [str(axis) for axis in axes]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _invert(
    expression: Expression, value: int, sizes: Mapping[str, int]
) -> tuple[str, int] | None:
    """Solves `expression == value` for its one unknown, where that is unique."""
    if isinstance(expression, Dim):
        return (expression.name, value) if value >= 0 else None
    if isinstance(expression, Const):
        return None
    unknown_left = bool(names_in(expression.left) - sizes.keys())
    if unknown_left and names_in(expression.right) - sizes.keys():
        return None
    inner, other = expression.left, expression.right
    if not unknown_left:
        inner, other = other, inner
    known = evaluate(other, sizes, owner="shapes")
    match expression.operator:
        case "+":
            return _invert(inner, value - known, sizes)
        case "-":
            target = value + known if unknown_left else known - value
            return _invert(inner, target, sizes)
        case "*" if known and value % known == 0:
            return _invert(inner, value // known, sizes)
    return None


_OPERATORS = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "//": int.__floordiv__,
    "%": int.__mod__,
}
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
            return Const(int(self.take()))
        if not token.isidentifier():
            self.fail("a dimension (a name, an integer or a parenthesis)")
        return Dim(self.take())

    def end(self) -> None:
        if self.peek():
            self.fail("an operator, ',', '->' or the end")
