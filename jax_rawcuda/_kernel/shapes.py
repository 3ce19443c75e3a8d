"""Solves the dimensions of a parsed `shapes` text and computes with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from .._base.errors import ValidationError
from .shape_syntax import Const, Dim, Expression, Shape, ShapeSpec, names_in

MAX_EXTENT = 2**63 - 1  # XLA counts in 64 bits

_OPERATORS = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "//": int.__floordiv__,
    "%": int.__mod__,
}


def evaluate(expression: Expression, sizes: Mapping[str, int], *, owner: str) -> int:
    """Computes `expression` of known sizes; errors start with `owner`."""
    if isinstance(expression, Const):
        return expression.value
    if isinstance(expression, Dim):
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
        if extent > MAX_EXTENT:
            raise ValidationError(
                f"{owner}: {axis} is {extent}; the largest extent is {MAX_EXTENT}."
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
