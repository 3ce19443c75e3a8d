"""Whether a reference may be used here, now, in this way."""

from __future__ import annotations

from .._base.errors import ValidationError
from .refs import Ref


def check_span(what: str, ref: Ref, nbytes: int) -> None:
    """Refuses a span that ends outside of a reference."""
    if nbytes > ref.byte_len:
        raise ValidationError(f"{what} has {ref.byte_len} bytes; {nbytes} are needed.")
