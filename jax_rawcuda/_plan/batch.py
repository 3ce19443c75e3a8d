"""Batch: where the elements of a batched plan's buffers lie."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .plan import Plan

MAX_AXES = 16  # as kMaxBatchAxes in ffi/plan/plan.h
_WORKSPACE_ALIGNMENT = 256  # bytes, of each element's workspace


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a batch.

    Attributes:
      size: Elements.
      strides: Of every buffer along the axis, in bytes: operands, results, workspaces.
        0 where the buffer is the same for all of them.
    """

    size: int
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """All elements of a batch.

    Attributes:
      axes: Outermost first. Axes that lie in memory like one are one, and none has a
        single element.
      elements: Their number.
    """

    axes: tuple[Axis, ...]
    elements: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """Extents, outermost first."""
        return tuple(axis.size for axis in self.axes)

    def strides(self, buffer: int) -> tuple[int, ...]:
        """Returns a buffer's stride along each axis, in bytes."""
        return tuple(axis.strides[buffer] for axis in self.axes)


def workspace_stride(nbytes: int, align: int) -> int:
    """Returns what one element's workspace takes when several lie side by side."""
    unit = max(align, _WORKSPACE_ALIGNMENT)
    return -(-nbytes // unit) * unit


def batch_of(plan: Plan, *, own_workspaces: bool) -> Batch:
    """Lays out a plan's batch.

    Args:
      plan: Under any number of batch axes.
      own_workspaces: Whether each element has workspaces of its own, instead of all
        using the same in turn.
    """
    spans = [t.nbytes for t in (*plan.operands, *plan.results)]
    alignments = plan.alignments or (1,) * len(plan.workspaces)
    for nbytes, align in zip(plan.workspaces, alignments, strict=True):
        spans.append(workspace_stride(nbytes, align) if own_workspaces else 0)
    axes: list[Axis] = []  # innermost first
    for axis in reversed(plan.batch_axes):
        if axis.size == 1:
            continue
        batched = [*axis.operands, *(True for _ in spans[len(axis.operands) :])]
        strides = [s if b else 0 for s, b in zip(spans, batched, strict=True)]
        spans = [s * axis.size if b else s for s, b in zip(spans, batched, strict=True)]
        if axes and _continues(axes[-1], strides):
            axes[-1] = Axis(axes[-1].size * axis.size, axes[-1].strides)
        else:
            axes.append(Axis(axis.size, tuple(strides)))
    return Batch(tuple(reversed(axes)), math.prod(plan.batch_shape))


def _continues(inner: Axis, strides: list[int]) -> bool:
    """Whether an axis goes on where the one inside of it ends, in every buffer."""
    ends = [stride * inner.size for stride in inner.strides]
    return strides == ends
