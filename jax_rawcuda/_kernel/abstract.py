"""What the user's functions get instead of arrays: their types."""

from __future__ import annotations

from typing import Any, NoReturn

import jax

from .._base.errors import SignatureError
from .._session.refs import Ref
from .._types.dtypes import spell_array


class AbstractScalar(jax.ShapeDtypeStruct):  # type: ignore[misc]
    """The type of an array without axes; asking for its value is an error."""

    __slots__ = ("_owner", "_what")

    def __init__(self, owner: str, what: str, value: Any) -> None:
        super().__init__(value.shape, value.dtype)
        self._owner = owner
        self._what = what

    def _no_value(self, *_: object) -> NoReturn:
        raise SignatureError(
            f"{self._owner}: {self._what} is an array ({spell_array(self)}), which has "
            "no value while the call is recorded. Pass a Python number "
            "(static_argnames in jax.jit)."
        )

    __bool__ = __int__ = __index__ = __float__ = __complex__ = _no_value
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _no_value
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _no_value
    __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __pos__ = __abs__ = _no_value
    __lt__ = __le__ = __gt__ = __ge__ = __round__ = __ceil__ = __floor__ = _no_value
    __and__ = __or__ = __xor__ = __invert__ = __lshift__ = __rshift__ = _no_value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, jax.ShapeDtypeStruct):
            self._no_value()
        return bool(super().__eq__(other))

    # Nor may a look-up, or a text such as a template argument, stand for the value.
    __hash__ = __str__ = __format__ = _no_value

    def __repr__(self) -> str:
        return f"{self._what} ({spell_array(self)}, without a value; static_argnames)"


def abstract(owner: str, what: str, value: Any) -> Any:
    """An array's type; a scalar as it is.

    Args:
      owner: The kernel, for messages.
      what: The argument, such as `argument 'a'`.
      value: Given for it.
    """
    # A NumPy scalar has a shape too, but is a scalar here.
    if isinstance(value, jax.Array | Ref) and value.shape == ():
        return AbstractScalar(owner, what, value)
    if getattr(value, "shape", ()) != ():
        return jax.ShapeDtypeStruct(value.shape, value.dtype)
    return value
