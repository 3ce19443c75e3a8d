"""CallKey: what a kernel call looks like from outside, to know it again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from .._base.checked_mode import enabled
from .._types.arrays import x64_enabled
from .._types.scalars import KernelArg


def call_key(args: Sequence[Any], keywords: Mapping[str, Any]) -> Hashable | None:
    """Returns a key that two calls share only if they record the same plan.

    Args:
      args: Of the call; arrays count by shape and dtype.
      keywords: Of the call.

    Returns:
      None where an argument has no such key: a reference, a NumPy array, a list; or an
      array by keyword, whose place among the operands is not known here.
    """
    if any(isinstance(value, jax.Array) for value in keywords.values()):
        return None
    parts: list[Hashable] = [x64_enabled(), enabled(), *keywords]
    for value in (*args, *keywords.values()):
        if isinstance(value, jax.Array):
            parts.append((value.shape, value.dtype))
        elif isinstance(value, float):
            # Equal numbers can be different arguments: 4 and 4.0, 0.0 and -0.0.
            parts.append((type(value), value.hex()))
        elif isinstance(value, int | KernelArg):
            parts.append((type(value), value))
        elif isinstance(value, np.generic) and not value.dtype.hasobject:
            parts.append((value.dtype, value.tobytes()))
        else:
            return None
    return tuple(parts)
