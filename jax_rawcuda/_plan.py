"""Plan: what a session recorded, as an immutable value that hashes by content."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ._checking import Labels
from ._launch import LaunchConfig
from ._module import Function


class Space(enum.IntEnum):
    """Which list of the custom call's buffers an index counts in."""

    OPERAND = 0
    RESULT = 1


@dataclass(frozen=True, slots=True)
class BufferRef:
    """A byte position in one of the call's buffers."""

    space: Space
    index: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class PointerArgument:
    """A kernel argument that is a device address."""

    ref: BufferRef


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A by-value kernel argument.

    The bytes decide, with the C type: `4` and `4.0`, or `0.0` and `-0.0`, are equal
    numbers but different arguments.
    """

    type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Launch:
    """Starts a kernel."""

    function: Function
    config: LaunchConfig
    arguments: tuple[PointerArgument | ScalarArgument, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """Copies bytes between two spans that do not overlap."""

    destination: BufferRef
    source: BufferRef
    nbytes: int


@dataclass(frozen=True, slots=True)
class Fill:
    """Repeats a value of `width` bytes (1, 2 or 4) over `nbytes` bytes."""

    destination: BufferRef
    nbytes: int
    width: int
    value: int


@dataclass(frozen=True, slots=True)
class Synchronize:
    """Blocks the host until everything before it has run."""


@dataclass(frozen=True, slots=True)
class Verify:
    """Waits, and looks at the bands of `guard` bytes around `nbytes` bytes.

    Attributes:
      begin: Of the band before them.
      nbytes: Between the bands.
      guard: Of each band, in bytes.
      what: Kernel and buffer, for the message.
    """

    begin: BufferRef
    nbytes: int
    guard: int
    what: str


Command = Launch | Copy | Fill | Synchronize | Verify

_XLA_ALIGNMENT = 64  # bytes; of every buffer, on every platform


def relocate(command: Command, move: Callable[[BufferRef], BufferRef]) -> Command:
    """Returns a command with every reference moved."""
    match command:
        case Launch():
            arguments = tuple(
                PointerArgument(move(a.ref)) if isinstance(a, PointerArgument) else a
                for a in command.arguments
            )
            return replace(command, arguments=arguments)
        case Copy():
            return replace(
                command,
                destination=move(command.destination),
                source=move(command.source),
            )
        case Fill():
            return replace(command, destination=move(command.destination))
    return command


@dataclass(frozen=True, slots=True)
class ArrayType:
    """Shape and dtype of one operand or result, without batch axes."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class BatchAxis:
    """One `vmap` around the plan: a leading axis of every result.

    Attributes:
      size: Elements of the axis.
      operands: For each operand, whether it has the axis too.
    """

    size: int
    operands: tuple[bool, ...]


@dataclass(frozen=True)
class Plan:
    """A recorded session.

    Attributes:
      op_name: Name for messages.
      operands: Types of the operands, one batch element each.
      results: Types of the results that the caller gets.
      workspaces: Sizes in bytes of the hidden results; the workspace with index i
        is addressed as result `len(results) + i`.
      alignments: Of the workspaces' addresses, in bytes; () when none asks for any.
      aliases: (operand, result) pairs that share a buffer. Commands address such a
        buffer as the result.
      commands: In the order of execution.
      batch_axes: Outermost first.
      labels: Names of the buffers if what the kernels do is to be checked, else None.
    """

    op_name: str
    operands: tuple[ArrayType, ...]
    results: tuple[ArrayType, ...]
    commands: tuple[Command, ...]
    workspaces: tuple[int, ...] = ()
    alignments: tuple[int, ...] = ()
    aliases: tuple[tuple[int, int], ...] = ()
    batch_axes: tuple[BatchAxis, ...] = ()
    labels: Labels | None = None
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        values = (
            self.op_name,
            self.operands,
            self.results,
            self.commands,
            self.workspaces,
            self.alignments,
            self.aliases,
            self.batch_axes,
            self.labels,
        )
        # JAX hashes a primitive's parameters many times while it traces.
        object.__setattr__(self, "_hash", hash(values))

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        # A jaxpr prints its parameters: a short text keeps it readable.
        launches = sum(isinstance(c, Launch) for c in self.commands)
        return f"Plan({self.op_name!r}, {launches} of {len(self.commands)} launches)"

    @property
    def allocations(self) -> tuple[int, ...]:
        """What each workspace takes of XLA: room to move its start up as well."""
        alignments = self.alignments or (1,) * len(self.workspaces)
        return tuple(
            nbytes + max(align - _XLA_ALIGNMENT, 0)
            for nbytes, align in zip(self.workspaces, alignments, strict=True)
        )

    @property
    def functions(self) -> tuple[Function, ...]:
        """The kernels that are launched, each once, in the order of first use."""
        found = (c.function for c in self.commands if isinstance(c, Launch))
        return tuple(dict.fromkeys(found))

    @property
    def synchronizes(self) -> bool:
        """Whether the host waits, so that XLA must not capture the call."""
        return any(isinstance(c, Synchronize | Verify) for c in self.commands)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Leading extents of every result."""
        return tuple(axis.size for axis in self.batch_axes)

    def batched(self, size: int, operands: tuple[bool, ...]) -> Plan:
        """Returns the plan under one more, outermost, batch axis."""
        axes = (BatchAxis(size, operands), *self.batch_axes)
        return replace(self, batch_axes=axes)
