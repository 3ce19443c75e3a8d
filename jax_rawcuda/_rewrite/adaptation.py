"""Adaptation: how an entry of PTX is changed, and what its launch adds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from .._base.errors import ValidationError


@dataclasses.dataclass(frozen=True, slots=True)
class Adaptation:
    """How an entry is changed so that one launch serves a whole batch.

    Parameters are counted as in the source, from 0, and keep their places. What the
    changed entry needs in addition follows them, each a 64-bit unsigned integer, in
    this order, which `appended` writes:

    1. `start`: the first element of the batch that this launch serves, as an index into
       the batch flattened in row-major order;
    2. the sizes of all batch axes but the outermost, outer ones first;
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
        return self.axes * (1 + len(self.batched))

    def appended(
        self,
        start: int,
        sizes: Sequence[int],
        strides: Mapping[int, Sequence[int]],
    ) -> tuple[int, ...]:
        """Returns the values of the appended parameters, in their order.

        Args:
          start: The first element of this launch.
          sizes: Of all batch axes, the outermost first; at least 1 each.
          strides: By batched parameter, along all batch axes, in bytes; 0 along an axis
            that the parameter lacks.
        """
        if not self.axes:
            return ()
        flat = [stride for index in self.batched for stride in strides[index]]
        return (start, *sizes[1:], *flat)
