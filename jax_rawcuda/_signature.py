"""KernelSignature: a kernel's parameters, as the compiler itself spells them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from ._dtypes import value_type
from ._errors import SignatureError


@dataclasses.dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel.

    Attributes:
      index: Position, from 0.
      name: The source's name, `arg3` when it is not known.
      type: The compiler's spelling, such as `float const*`.
      size: In bytes.
      align: In bytes.
      pointee: For a pointer, what it points to, without const; else None.
      const: For a pointer, whether the kernel may only read through it.
      abi: PTX's own type: `u32` for an int or an enum, `b8` for a struct, "" if unknown.
    """

    index: int
    name: str
    type: str
    size: int
    align: int
    pointee: str | None = None
    const: bool = False
    abi: str = ""

    @property
    def is_pointer(self) -> bool:
        """Whether the parameter is a data pointer."""
        return self.pointee is not None

    def __str__(self) -> str:
        return f"{c_spelling(self.type)} {self.name}"


@dataclasses.dataclass(frozen=True, slots=True)
class KernelSignature:
    """A kernel's name and parameters.

    Attributes:
      kernel: The name the user asked for, such as `ns::scale<float>`.
      parameters: In order.
    """

    kernel: str
    parameters: tuple[Parameter, ...]

    def __str__(self) -> str:
        return f"void {self.kernel}({', '.join(map(str, self.parameters))})"


@dataclasses.dataclass(frozen=True, slots=True)
class AbiParameter:
    """A parameter as the binary interface has it: from PTX or a cubin."""

    size: int
    align: int
    abi: str = ""
