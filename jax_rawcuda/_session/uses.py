"""Whether a reference may be used in a session, and for what."""

from __future__ import annotations

from typing import Any

from .._base.errors import SessionError, SignatureError, ValidationError
from .refs import ConstantBytes, Ref, TensorRef, buffer_of
from .scope import Scope, check_open


def check_use(scope: Scope, ref: Any) -> None:
    """Refuses what is no reference of an open session, or one that was replaced."""
    check_open(scope)
    if not isinstance(ref, Ref):
        raise SignatureError(
            f"{scope.op_name}: needs a reference of this session, got "
            f"{type(ref).__name__}. Wrap arrays with s.tensor(x)."
        )
    buffer = buffer_of(ref)
    if buffer.session is not scope:
        raise SessionError(
            f"{scope.op_name}: {ref!r} belongs to another session "
            f"({buffer.session.op_name})."
        )
    if buffer.in_place is not None and isinstance(ref, TensorRef | ConstantBytes):
        raise SessionError(
            f"{scope.op_name}: operand '{buffer.name}' is used in place. Use what "
            "s.tensor_mut returned instead."
        )


def check_writable(scope: Scope, owner: str, ref: Ref) -> None:
    """Refuses a reference that may not be written to."""
    check_use(scope, ref)
    if not ref.writable:
        raise SessionError(
            f"{owner}: {ref!r} is read only. Write to an output, a workspace or "
            "s.tensor_mut(x)."
        )


def check_span(what: str, ref: Ref, nbytes: int) -> None:
    """Refuses a span that ends outside of a reference."""
    if nbytes > ref.byte_len:
        raise ValidationError(f"{what} has {ref.byte_len} bytes; {nbytes} are needed.")
