"""Solves the dimensions of a parsed `shapes` text and computes with them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from .._base.errors import ValidationError
from .shape_syntax import Const, Dim, Expression, Group, Shape, ShapeSpec, names_in

MAX_EXTENT = 2**63 - 1  # XLA counts in 64 bits

_OPERATORS = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "//": int.__floordiv__,
    "%": int.__mod__,
}


@dataclass(frozen=True, slots=True)
class Solution:
    """What the shapes of a call's operands say.

    Attributes:
      sizes: Each dimension; that of a group is the product of its axes.
      groups: The extents of each group's axes.
    """

    sizes: Mapping[str, int]
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


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


def evaluate_shape(shape: Shape, solution: Solution, *, owner: str) -> tuple[int, ...]:
    """Computes a whole shape, whose extents cannot be negative."""
    extents: list[int] = []
    for axis in shape:
        if isinstance(axis, Group):
            extents.extend(solution.groups[axis.name])
            continue
        extent = evaluate(axis, solution.sizes, owner=owner)
        if extent < 0:
            raise ValidationError(
                f"{owner}: {axis} is {extent}; it cannot be negative."
            )
        if extent > MAX_EXTENT:
            raise ValidationError(
                f"{owner}: {axis} is {extent}; the largest extent is {MAX_EXTENT}."
            )
        extents.append(extent)
    return tuple(extents)


def solve(
    spec: ShapeSpec,
    operands: Sequence[tuple[str, tuple[int, ...]]],
    *,
    owner: str,
    known: Mapping[str, int] | None = None,
) -> Solution:
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
    groups: dict[str, tuple[int, ...]] = {}
    first: dict[str, _Operand] = {}
    pending: list[_Item] = []
    for (name, shape), axes in zip(operands, spec.inputs, strict=True):
        operand = _Operand(name, shape, axes)
        for axis, extents in _aligned(spec, operand, owner):
            if not isinstance(axis, Group):
                pending.append((operand, axis, extents[0]))
                continue
            known_extents = groups.setdefault(axis.name, extents)
            other = first.setdefault(axis.name, operand)
            if extents != known_extents:
                raise ValidationError(
                    f'{owner}: {operand}, but shapes="{spec.text}" needs '
                    f"{_show(axes)}: the axes {axis} are {extents}, required "
                    f"{known_extents} ({other})."
                )
            sizes[axis.name] = math.prod(extents)
            origin[axis.name] = f"operand '{other.name}'"
    # Bare names first: they fix what the expressions of other operands read.
    pending.sort(key=lambda item: not isinstance(item[1], Dim))
    while pending:
        item, solved = _next_axis(pending, sizes)
        pending.remove(item)
        operand, axis, extent = item
        if solved is not None:
            sizes.update([solved])
            origin[solved[0]] = f"operand '{operand.name}'"
        elif free := names_in(axis) - sizes.keys():
            raise ValidationError(
                f'{owner}: {operand}, from which shapes="{spec.text}" cannot '
                f"fix {', '.join(sorted(free))} (axis {axis} is {extent})."
            )
        where = f"{owner}: operand '{operand.name}'"
        if (needed := evaluate(axis, sizes, owner=where)) != extent:
            reasons = ", ".join(
                f"{n}={sizes[n]} from {origin[n]}" for n in sorted(names_in(axis))
            )
            raise ValidationError(
                f'{owner}: {operand}, but shapes="{spec.text}" needs '
                f"{_show(operand.axes)}: axis {axis} is {extent}, required {needed}"
                f"{f' ({reasons})' if reasons else ''}."
            )
    return Solution(sizes, groups)


@dataclass(frozen=True, slots=True)
class _Operand:
    """An operand and what the contract says of it."""

    name: str
    shape: tuple[int, ...]
    axes: Shape

    def __str__(self) -> str:
        return f"operand '{self.name}' has shape {self.shape}"


_Item: TypeAlias = tuple[_Operand, Expression, int]


def _aligned(
    spec: ShapeSpec, operand: _Operand, owner: str
) -> Iterator[tuple[Expression | Group, tuple[int, ...]]]:
    """Pairs each axis of the contract with its extent, a group with several or none."""
    shape, axes = operand.shape, operand.axes
    grouped = any(isinstance(axis, Group) for axis in axes)
    rank = len(axes) - grouped
    if len(shape) < rank or (len(shape) > rank and not grouped):
        advice = "" if shape else " An operand without axes is () in shapes=."
        raise ValidationError(
            f"{owner}: {operand} of rank {len(shape)}, but "
            f'shapes="{spec.text}" needs {_show(axes)} of rank {rank}'
            f"{' or more' if grouped else ''}.{advice}"
        )
    start = 0
    for axis in axes:
        count = len(shape) - rank if isinstance(axis, Group) else 1
        yield axis, shape[start : start + count]
        start += count


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


def _show(axes: Shape) -> str:
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
