"""What a module holds: the interface, and its first kind, CUDA C++."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from typing import Literal, Protocol

from .._compile.target import Target
from .._device.loaded_kernel import FunctionAttributes
from .._types.signature import KernelSignature
from .variables import Values, VariableType


@dataclasses.dataclass(frozen=True, slots=True)
class ModuleImage:
    """Compiled bytes of a module.

    Attributes:
      data: The raw bytes.
      kind: What they are.
      digest: SHA-256 of `data`.
      lowered_names: (kernel's name, symbol in the image) pairs.
      variables: (symbol, bytes) pairs: the values that variables get at first.
    """

    data: bytes
    kind: Literal["cubin", "ptx", "host_ptx"]
    digest: bytes
    lowered_names: tuple[tuple[str, str], ...]
    variables: tuple[tuple[str, bytes], ...] = ()

    @classmethod
    def of(
        cls,
        data: bytes,
        kind: Literal["cubin", "ptx", "host_ptx"],
        names: Sequence[tuple[str, str]],
        variables: tuple[tuple[str, bytes], ...] = (),
    ) -> ModuleImage:
        """Makes an image and its digest."""
        digest = hashlib.sha256(data).digest()
        return cls(data, kind, digest, tuple(names), variables)


class Code(Protocol):
    """What a module asks of its code. `name` is what messages call it."""

    name: str

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """The kernels known without compiling."""

    def check(self, name: str) -> None:
        """Raises unless there is such a kernel."""

    def signature(self, name: str) -> KernelSignature:
        """Returns a kernel's parameters."""

    def image(self, name: str, target: Target, values: Values = ()) -> ModuleImage:
        """Returns an image with the kernel in it, and values for its variables."""

    def ptx(self, name: str, target: Target) -> str | None:
        """Returns the PTX that the image is made of; None if there is none."""

    def variable(self, name: str) -> VariableType:
        """Returns what a variable holds; raises unless its value can be set."""

    def symbol(self, name: str, target: Target) -> str:
        """Returns the kernel's symbol in that image."""

    def attributes(self, name: str, target: Target) -> FunctionAttributes:
        """Returns what is known without a GPU."""
