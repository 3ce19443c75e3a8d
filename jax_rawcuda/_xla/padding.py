"""Padding: elements of a batch start where a kernel's widest access may."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp

from .._compile.target import default_target
from .._module.module import Function
from .._plan.commands import Launch, PointerArgument, ScalarArgument, Space
from .._plan.plan import Plan
from .._rewrite.accesses import WIDEST, widest_access
from .._types.arrays import ArrayType


def padded(plan: Plan, platform: str) -> Plan | None:
    """Returns the plan with longer elements; None where they are right as they are.

    An array starts where every access is aligned; the second element of its batch does
    so only if an element's bytes are a multiple of the access. On a GPU an access that
    is not aligned ends the process's context.

    Args:
      plan: Under batch axes or not.
      platform: `cuda` or `cpu`.
    """
    if all(axis.size < 2 for axis in plan.batch_axes):
        return None
    operands, results = list(plan.operands), list(plan.results)
    spaces = {Space.OPERAND: operands, Space.RESULT: results}
    for space, index, width in _accesses(plan, platform):
        types = spaces[space]
        if index < len(types):  # workspaces are aligned anyway
            types[index] = _widened(types[index], width)
    for operand, result in plan.aliases:
        longer = max(operands[operand], results[result], key=lambda t: t.nbytes)
        operands[operand] = results[result] = longer
    if (*operands, *results) == (*plan.operands, *plan.results):
        return None
    return replace(plan, operands=tuple(operands), results=tuple(results))


def run_padded(primitive: Any, plan: Plan, wider: Plan, *operands: Any) -> list[Any]:
    """Runs the wider plan on the operands of the other; returns the other's results.

    Args:
      primitive: Runs plans.
      plan: What the operands and results belong to.
      wider: From `padded`.
      *operands: Arrays, with the batch axes that each of them has in front.
    """
    longer = [
        _lengthen(x, had, wanted)
        for x, had, wanted in zip(operands, plan.operands, wider.operands, strict=True)
    ]
    results = primitive.bind(*longer, plan=wider)
    batch = plan.batch_shape
    return [
        x if had == got else x[..., : _size(had)].reshape((*batch, *had.shape))
        for x, had, got in zip(results, plan.results, wider.results, strict=True)
    ]


def _accesses(plan: Plan, platform: str) -> Sequence[tuple[Space, int, int]]:
    """Lists (space, index, bytes) of the buffers that kernels access."""
    found = []
    for command in plan.commands:
        if isinstance(command, Launch):
            width = _widest(command.function, platform)
            parameters = command.function.signature.parameters
            for parameter, argument in zip(parameters, command.arguments, strict=True):
                if isinstance(argument, ScalarArgument):
                    continue
                is_address = isinstance(argument, PointerArgument)
                widest = width if is_address else parameter.align
                found.append((argument.ref.space, argument.ref.index, widest))
    return found


def _widest(function: Function, platform: str) -> int:
    target = default_target(platform, function.module.options)
    ptx = function.ptx(target)
    if ptx is None:  # a cubin does not tell
        return WIDEST
    return widest_access(ptx, function.lowered_name(target))


def _size(array: ArrayType) -> int:
    return array.nbytes // array.dtype.itemsize


def _widened(array: ArrayType, width: int) -> ArrayType:
    """Returns a flat type whose bytes are a multiple of `width`, a power of two."""
    unit = max(width // array.dtype.itemsize, 1)
    size = -(-_size(array) // unit) * unit
    return array if size == _size(array) else ArrayType((size,), array.dtype)


def _lengthen(x: Any, had: ArrayType, wanted: ArrayType) -> Any:
    if had == wanted:
        return x
    batch = x.shape[: x.ndim - len(had.shape)]
    flat = x.reshape((*batch, _size(had)))
    margins = [(0, 0)] * len(batch) + [(0, _size(wanted) - _size(had))]
    return jnp.pad(flat, margins)
