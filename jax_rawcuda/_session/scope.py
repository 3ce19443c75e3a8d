"""Scope: the part of a session that says whether it may be used, here and now."""

from __future__ import annotations

import threading
from typing import NoReturn, SupportsIndex

from .._base.errors import SessionError


class Scope:
    """An op that is being recorded, in one thread, until it returns.

    Attributes:
      op_name: For messages.
      has_side_effect: Whether it has to run even if nobody needs its results.
    """

    op_name: str
    has_side_effect: bool
    _thread: int
    _open: bool
    _maker = "op"
    _shown = "Session"  # what users call it
    _thread_rule = "traces the op. Record from that thread."

    def __init__(self) -> None:
        raise SessionError(
            f"{self._shown}: cannot be made directly. Decorate a function with "
            f"rc.{self._maker}; its first argument is the session."
        )

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise SessionError(
            f"{self.op_name}: a session cannot be copied or pickled. Pass arrays."
        )

    def _enter(self, op_name: str) -> None:
        self.op_name = op_name
        self._thread = threading.get_ident()
        self.has_side_effect = False
        self._open = True


def check_open(scope: Scope) -> None:
    """Refuses a session that has ended, or is used by a thread other than its own."""
    if not scope._open:
        raise SessionError(
            f"{scope.op_name}: the session has ended. Use it, and what it hands "
            "out, only inside of the op."
        )
    if threading.get_ident() != scope._thread:
        raise SessionError(
            f"{scope.op_name}: the session belongs to the thread that "
            f"{scope._thread_rule}"
        )


def close_session(session: Scope) -> None:
    """Ends a session: every later use of it, or of its references, is an error."""
    session._open = False
