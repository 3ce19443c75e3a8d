"""Recorder: the session of `rc.op`, which records what it is asked for."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from .._base.errors import SessionError
from .._plan.commands import Command
from .._types.arrays import check_operand
from .refs import (
    Buffer,
    BufferKind,
    Output,
    Ref,
    TensorMut,
    TensorRef,
    buffer_of,
    is_whole,
)
from .scope import check_open
from .session import Session
from .uses import check_use


class Recorder(Session):
    """A session while its op is traced.

    Attributes:
      commands: What was recorded, in order.
    """

    commands: list[Command]

    def __repr__(self) -> str:
        state = "open" if self._open else "closed"
        return f"<session {self.op_name}: {len(self.commands)} commands, {state}>"

    def tensor(self, array: Any, *, name: str | None = None) -> TensorRef:
        """Adds an operand."""
        check_open(self)
        name = name or f"operand{len(self.operands)}"
        array, type_ = check_operand(f"{self.op_name}: operand '{name}'", array)
        buffer = Buffer(
            self,
            BufferKind.OPERAND,
            len(self.operands),
            name,
            type_.shape,
            type_.dtype,
            written=True,
        )
        self.operands.append((buffer, array))
        return TensorRef(buffer, type_.shape, type_.dtype)

    def tensor_mut(self, ref: Ref) -> Ref:
        """Gives the operand's buffer to a result."""
        check_use(self, ref)
        if ref.writable:
            return ref
        if not isinstance(ref, TensorRef) or not is_whole(ref):
            raise SessionError(
                f"{self.op_name}: tensor_mut needs a whole operand, got {ref!r}."
            )
        operand = buffer_of(ref)
        buffer = self._allocate(
            BufferKind.RESULT, operand.name, ref.shape, ref.dtype, written=True
        )
        operand.in_place = TensorMut(buffer, ref.shape, ref.dtype)
        return operand.in_place

    # Inner parts

    def _enter(self, op_name: str) -> None:
        super()._enter(op_name)
        self.commands = []

    def _emit(self, command: Command) -> None:
        self.commands.append(command)

    def _allocate(
        self,
        kind: BufferKind,
        name: str,
        shape: tuple[int, ...],
        dtype: np.dtype,
        written: bool = False,
    ) -> Buffer:
        index = len(self.buffers)
        buffer = Buffer(self, kind, index, name, shape, dtype, written)
        self.buffers.append(buffer)
        return buffer

    def _full(self, ref: Output, value: Any) -> Any:
        return jnp.full(ref.shape, value, ref.dtype)


def open_session(op_name: str) -> Recorder:
    """Starts recording in this thread."""
    session = object.__new__(Recorder)
    session._enter(op_name)
    return session
