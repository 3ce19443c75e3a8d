"""Adaptation: how an entry of PTX is changed, and what its launch adds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from .._base.errors import ValidationError

# Elements of a batch with several axes: their indices are divided in 32 bits.
_MAX_NESTED = 1 << 32


@dataclasses.dataclass(frozen=True, slots=True)
class Adaptation:
    """How an entry is changed so that one launch serves a whole batch.

    Parameters are counted as in the source, from 0, and keep their places. What the
    changed entry needs in addition follows them, each a 64-bit unsigned integer, in
    this order, which `appended` writes:

    1. `start`: the first element of the batch that this launch serves, as an index into
       the batch flattened in row-major order;
    2. for each batch axis but the outermost, outer ones first, its size and a rounded
       reciprocal of it, with which the kernel divides;
    3. for each batched parameter, by index, its stride along every batch axis, outer
       axes first, in bytes.

    The launch multiplies the user's own grid extent z by the number of elements: block
    z serves element `start + z / grid_z`, and the kernel reads `z % grid_z`. Without
    batch axes nothing is appended and the grid stays.

    Attributes:
      axes: Number of batch axes; 0 changes dynamic parameters only.
      batched: Parameters that differ between elements: pointers of 64 bits, and dynamic
        ones. In ascending order, as `dynamic`.
      dynamic: Parameters passed by value that become an address: the kernel reads the
        value from device memory. The address has the alignment of the parameter, as
        have the strides of a batched one. Nothing may write that memory while the
        kernel runs.
      grid_z: The user's own grid extent z, in blocks.
    """

    axes: int = 0
    batched: tuple[int, ...] = ()
    dynamic: tuple[int, ...] = ()
    grid_z: int = 1

    def __post_init__(self) -> None:
        for name in ("batched", "dynamic"):
            indices = getattr(self, name)
            if list(indices) != sorted(set(indices)):
                raise ValidationError(f"{name}={indices}: ascending order is needed.")
        if self.batched and not self.axes:
            raise ValidationError(f"batched={self.batched}: a batch axis is needed.")
        if self.axes < 0 or self.grid_z < 1:
            raise ValidationError(
                f"axes={self.axes}, grid_z={self.grid_z}: 0 and 1 or more are needed."
            )

    @property
    def appended_count(self) -> int:
        """How many parameters are appended."""
        return self.axes * (2 + len(self.batched)) - 1 if self.axes else 0

    def appended(
        self,
        start: int,
        sizes: Sequence[int],
        strides: Mapping[int, Sequence[int]],
    ) -> tuple[int, ...]:
        """Returns the values of the appended parameters, in their order.

        Args:
          start: The first element of this launch.
          sizes: Of all batch axes, the outermost first.
          strides: By batched parameter, along all batch axes, in bytes; 0 along an axis
            that the parameter lacks.

        Raises:
          ValidationError: An inner axis has a single element and could be left out, or
            there are too many elements to divide by the sizes of inner axes.
        """
        if not self.axes:
            return ()
        inner = sizes[1:]
        if inner and (min(inner) < 2 or math.prod(sizes) > _MAX_NESTED):
            raise ValidationError(
                f"batch axes of {tuple(sizes)} elements: inner ones need 2 or more, "
                f"and all together may have {_MAX_NESTED:,}."
            )
        flat = [stride for index in self.batched for stride in strides[index]]
        divisors = [value for size in inner for value in (size, _reciprocal(size))]
        return (start, *divisors, *flat)


def _reciprocal(size: int) -> int:
    """Returns r such that `index // size == index * r >> 64` below 2 ** 32.

    A division takes the GPU longer than the rest of many kernels.
    """
    return (1 << 64) // size + 1
