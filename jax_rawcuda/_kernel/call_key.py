"""CallKey: what a kernel call looks like from outside, to know it again."""

from __future__ import annotations

import struct
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from .._base.checked_mode import enabled
from .._types.arrays import x64_enabled
from .._types.scalars import KernelArg
from .changing import Slot

_BITS = struct.Struct("<2d")


def call_key(args: Sequence[Any], keywords: Mapping[str, Any]) -> Hashable | None:
    """Returns a key that two calls share only if they record the same plan.

    Args:
      args: Of the call; arrays count by shape and dtype.
      keywords: Of the call.

    Returns:
      None where an argument has no such key: a reference, a NumPy array, a list.
    """
    parts: list[Hashable] = [x64_enabled(), enabled(), *keywords]
    for value in (*args, *keywords.values()):
        if isinstance(value, jax.Array):
            parts.append((value.shape, value.dtype))
        elif isinstance(value, float | complex):
            # Equal numbers can be different arguments: 4 and 4.0, 0.0 and -0.0; and so
            # can numbers that print alike, such as NaN.
            parts.append((type(value), _BITS.pack(value.real, value.imag)))
        elif isinstance(value, int | KernelArg | Slot):
            parts.append((type(value), value))
        elif _is_number(value):
            parts.append((value.dtype, value.tobytes()))
        else:
            return None
    return tuple(parts)


def _is_number(value: Any) -> bool:
    known = isinstance(value, np.generic | np.ndarray)
    return known and value.ndim == 0 and not value.dtype.hasobject
