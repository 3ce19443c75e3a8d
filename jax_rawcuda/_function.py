"""Function: one kernel of a module."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ._code import MAX_THREADS, ModuleImage
from ._device import (
    FunctionAttributes,
    LoadedKernel,
    Occupancy,
    has_device,
    require_device,
)
from ._errors import ValidationError
from ._signature import KernelSignature
from ._target import Target, default_target

if TYPE_CHECKING:
    from ._module import Module


class Function:
    """One kernel of a module. Equal when module contents and name are equal.

    Attributes:
      name: As it was asked for, such as `ns::scale<float>`.
      module: Where it is from.
    """

    __slots__ = ("_signature", "module", "name")

    def __init__(self, module: Module, name: str) -> None:
        self.module = module
        self.name = name
        self._signature: KernelSignature | None = None

    @property
    def signature(self) -> KernelSignature:
        """The kernel's parameters, from the compiler; compiles on first use."""
        if self._signature is None:
            self._signature = self.module._code.signature(self.name)
        return self._signature

    @property
    def attributes(self) -> FunctionAttributes:
        """Registers, memory and thread limit on the default GPU target.

        Without a GPU they are what the compiler reports, and None for what it does not.
        """
        target = default_target("cuda", self.module.options)
        if not has_device():
            return self.module._code.attributes(self.name, target)
        return self._load().attributes(target.arch)

    def occupancy(
        self, block: int | Sequence[int], shared_mem_bytes: int = 0
    ) -> Occupancy:
        """Returns how full blocks of this size make a multiprocessor. Needs a GPU.

        Args:
          block: Threads per block, or its extents.
          shared_mem_bytes: Dynamic shared memory per block, in bytes.

        Raises:
          ValidationError: No block has that many threads.
          UnsupportedError: There is no GPU.
        """
        threads = block if isinstance(block, int) else math.prod(block)
        if not 1 <= threads <= MAX_THREADS:
            raise ValidationError(
                f"{self.name}: block={block!r} has {threads} threads; 1 to "
                f"{MAX_THREADS} are needed."
            )
        return self._load().occupancy(threads, shared_mem_bytes)

    def suggest_block(self, shared_mem_bytes: int = 0) -> int:
        """Returns the threads per block with the best occupancy. Needs a GPU.

        Args:
          shared_mem_bytes: Dynamic shared memory per block, in bytes.

        Raises:
          UnsupportedError: There is no GPU.
        """
        return self._load().suggest_block(shared_mem_bytes)

    def image(self, target: Target) -> ModuleImage:
        """Returns the image that holds this kernel; compiles it on first use.

        Args:
          target: Platform and architecture.
        """
        return self.module._code.image(self.name, target, self.module.values)

    def lowered_name(self, target: Target) -> str:
        """Returns the kernel's symbol in an image.

        Args:
          target: What the image is for.
        """
        return self.module._code.symbol(self.name, target)

    def _load(self) -> LoadedKernel:
        require_device(self.name)
        target = default_target("cuda", self.module.options)
        image = self.image(target).data
        return LoadedKernel(self.name, image, self.lowered_name(target))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[bytes, str]:
        return self.module.digest, self.name

    def __repr__(self) -> str:
        shown = self._signature or repr(self.name)  # no compilation for a look
        return f"Function({shown})"

    def _repr_html_(self) -> str:
        from ._html import function_table

        return function_table(self.signature, self.attributes)
