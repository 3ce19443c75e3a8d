"""XLA's stream, opaque while an op is recorded."""

from __future__ import annotations

from typing import NoReturn, SupportsIndex

from .._base.errors import SessionError
from .scope import Scope


class StreamRef:
    """The stream that the op will run on. Opaque: it exists only at run time."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def unsafe_raw_handle(self) -> int:
        """Returns the stream's handle, in a live session.

        Raises:
          SessionError: There is no stream while an op is recorded.
        """
        raise SessionError(
            f"{self._scope.op_name}: a recorded session has no stream handle. "
            "XLA chooses the stream when the compiled program runs: use rc.live_op."
        )

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise SessionError(
            f"{self._scope.op_name}: a stream cannot be copied or pickled. Pass arrays."
        )

    def __repr__(self) -> str:
        return f"<stream of {self._scope.op_name}>"
