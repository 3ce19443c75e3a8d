"""Plan: what a session recorded, as an immutable value that hashes by content."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .._module.module import Function
from .._types.arrays import ArrayType
from .commands import Command, Launch, Synchronize, Verify
from .labels import Labels

_XLA_ALIGNMENT = 64  # bytes; of every buffer, on every platform


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
      has_side_effect: Whether it has to run even if nobody needs its results, as often
        as the program says, and in its place.
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
    has_side_effect: bool = False
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
            self.has_side_effect,
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
