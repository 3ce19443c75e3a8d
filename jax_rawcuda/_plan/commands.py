"""The commands of a plan: launch, copy, fill, synchronise, verify."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, replace

from .._module.module import Function
from .._types.launch import LaunchConfig


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
class DynamicArgument:
    """A by-value kernel argument that is read from a buffer when the plan runs.

    Attributes:
      type: The parameter's C type.
      size: In bytes.
      ref: Where the bytes are.
    """

    type: str
    size: int
    ref: BufferRef


Argument = PointerArgument | ScalarArgument | DynamicArgument


@dataclass(frozen=True, slots=True)
class Launch:
    """Starts a kernel."""

    function: Function
    config: LaunchConfig
    arguments: tuple[Argument, ...]


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


def relocate(command: Command, move: Callable[[BufferRef], BufferRef]) -> Command:
    """Returns a command with every reference moved."""
    match command:
        case Launch():
            arguments = tuple(
                a if isinstance(a, ScalarArgument) else replace(a, ref=move(a.ref))
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
