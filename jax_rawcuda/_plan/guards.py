"""Checked plans on a GPU: results and workspaces move into memory between two bands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .._types.dtypes import spell_array
from .commands import (
    BufferRef,
    Command,
    Copy,
    Fill,
    Launch,
    PointerArgument,
    Space,
    Verify,
    relocate,
)
from .labels import Labels
from .plan import Plan

BAND = 4096  # bytes; a multiple of every alignment
_PATTERN = 0xA5  # ffi/cuda/guard.cc looks for it
_UNDEFINED = 0xFF  # NaN in every floating-point type


def guarded(plan: Plan) -> Plan:
    """Returns a plan that does the same and looks at the bands after each launch.

    Each result gets a workspace of its own, which is copied to it in the end. What is
    not defined at first is NaN.
    """
    if plan.labels is None:
        return plan
    return _Guarded(plan, plan.labels).plan()


class _Guarded:
    def __init__(self, plan: Plan, labels: Labels) -> None:
        self._plan = plan
        self._labels = labels
        self._visible = len(plan.results)
        # Bytes of every buffer that can be written, by its index among the results.
        self._sizes = [*(t.nbytes for t in plan.results), *plan.workspaces]
        self._shared = {result for _, result in plan.aliases}

    def plan(self) -> Plan:
        """Returns the new plan."""
        # The old workspaces come first, so that they keep their numbers.
        order = [*range(self._visible, len(self._sizes)), *range(self._visible)]
        alignments = self._plan.alignments or (1,) * len(self._plan.workspaces)
        names = [f"guarded {self._labels.results[i]}" for i in range(self._visible)]
        return replace(
            self._plan,
            workspaces=tuple(self._sizes[i] + 2 * BAND for i in order),
            alignments=(*alignments, *(1 for _ in range(self._visible))),
            labels=replace(self._labels, results=(*self._labels.results, *names)),
            commands=(*self._begin(), *self._run(), *self._end()),
        )

    def _band(self, index: int, offset: int = 0) -> BufferRef:
        """Returns a place in the guarded memory of a result or workspace."""
        if index < self._visible:
            index += len(self._sizes)
        return BufferRef(Space.RESULT, index, offset)

    def _begin(self) -> Iterator[Command]:
        for index, size in enumerate(self._sizes):
            for offset in (0, BAND + size):
                yield Fill(self._band(index, offset), BAND, 1, _PATTERN)
            data = self._band(index, BAND)
            if index in self._shared:
                yield Copy(data, BufferRef(Space.RESULT, index), size)
            else:
                yield Fill(data, size, 1, _UNDEFINED)

    def _run(self) -> Iterator[Command]:
        def move(ref: BufferRef) -> BufferRef:
            if ref.space is Space.OPERAND:
                return ref
            return self._band(ref.index, BAND + ref.offset)

        for command in self._plan.commands:
            yield relocate(command, move)
            if isinstance(command, Launch):
                yield from self._look(command)

    def _look(self, launch: Launch) -> Iterator[Command]:
        seen = set()
        parameters = launch.function.signature.parameters
        for parameter, argument in zip(parameters, launch.arguments, strict=True):
            if not isinstance(argument, PointerArgument):
                continue
            index = argument.ref.index
            if argument.ref.space is Space.OPERAND or index in seen:
                continue
            seen.add(index)
            name = f"{launch.function.name}: check failed: argument '{parameter.name}'"
            text = f"{name} ({self._type(index)})"
            yield Verify(self._band(index), self._sizes[index], BAND, text)

    def _type(self, index: int) -> str:
        if index < self._visible:
            return spell_array(self._plan.results[index])
        return f"{self._sizes[index]} bytes, '{self._labels.results[index]}'"

    def _end(self) -> Iterator[Command]:
        for index in range(self._visible):
            size = self._sizes[index]
            yield Copy(BufferRef(Space.RESULT, index), self._band(index, BAND), size)
