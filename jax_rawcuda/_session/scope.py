"""Scope: the part of a session that says whether it, or a reference, may be used."""

from __future__ import annotations

import threading
from typing import Any, NoReturn, SupportsIndex

from .._base.errors import SessionError, SignatureError
from .refs import ConstantBytes, Ref, TensorRef, buffer_of


class Scope:
    """An op that is being recorded, in one thread, until it returns.

    Attributes:
      op_name: For messages.
    """

    op_name: str
    _thread: int
    _open: bool
    _maker = "op"
    _thread_rule = "traces the op. Record from that thread."

    def __init__(self) -> None:
        raise SessionError(
            f"{type(self).__name__}: cannot be made directly. Decorate a function with "
            f"rc.{self._maker}; its first argument is the session."
        )

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise SessionError(
            f"{self.op_name}: a session cannot be copied or pickled. Pass arrays."
        )

    def _enter(self, op_name: str) -> None:
        self.op_name = op_name
        self._thread = threading.get_ident()
        self._open = True

    def _check_open(self) -> None:
        if not self._open:
            raise SessionError(
                f"{self.op_name}: the session has ended. Use it, and what it hands "
                "out, only inside of the op."
            )
        if threading.get_ident() != self._thread:
            raise SessionError(
                f"{self.op_name}: the session belongs to the thread that "
                f"{self._thread_rule}"
            )

    def _check_use(self, ref: Any) -> None:
        self._check_open()
        if not isinstance(ref, Ref):
            raise SignatureError(
                f"{self.op_name}: needs a reference of this session, got "
                f"{type(ref).__name__}. Wrap arrays with s.tensor(x)."
            )
        buffer = buffer_of(ref)
        if buffer.session is not self:
            raise SessionError(
                f"{self.op_name}: {ref!r} belongs to another session "
                f"({buffer.session.op_name})."
            )
        if buffer.in_place is not None and isinstance(ref, TensorRef | ConstantBytes):
            raise SessionError(
                f"{self.op_name}: operand '{buffer.name}' is used in place. Use what "
                "s.tensor_mut returned instead."
            )

    def _check_writable(self, owner: str, ref: Ref) -> None:
        self._check_use(ref)
        if not ref.writable:
            raise SessionError(
                f"{owner}: {ref!r} is read only. Write to an output, a workspace or "
                "s.tensor_mut(x)."
            )


def close_session(session: Scope) -> None:
    """Ends a session: every later use of it, or of its references, is an error."""
    session._open = False
