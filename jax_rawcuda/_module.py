"""Module and Function: source, PTX or cubin, and the kernels in it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Literal

from ._nvrtc import NvrtcOptions
from ._signature import KernelSignature


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """What an image is made for.

    Attributes:
      platform: `cuda` or `cpu`.
      arch: `sm_90` (a cubin), `compute_90` (PTX), "" on the CPU.
    """

    platform: Literal["cuda", "cpu"]
    arch: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class ModuleImage:
    """Compiled bytes of a module.

    Attributes:
      data: The raw bytes.
      kind: What they are.
      digest: SHA-256 of `data`.
      lowered_names: (name asked for, symbol in the image) pairs.
    """

    data: bytes
    kind: Literal["cubin", "ptx", "host_ptx"]
    digest: bytes
    lowered_names: tuple[tuple[str, str], ...]


class Function:
    """One kernel of a module. Equal when module and name are equal."""

    name: str
    module: Module

    @property
    def signature(self) -> KernelSignature:
        """The kernel's parameters, from the compiler."""
        raise NotImplementedError

    def image(self, target: Target) -> ModuleImage:
        """Returns the image that holds this kernel for `target`."""
        raise NotImplementedError

    def lowered_name(self, target: Target) -> str:
        """Returns the kernel's symbol in that image."""
        raise NotImplementedError


class Module:
    """Source or image with kernels. Equal when the contents are equal."""

    digest: bytes
    options: NvrtcOptions | None
    source: str | None

    def function(self, name: str | None = None) -> Function:
        """Returns a kernel by name or name expression."""
        raise NotImplementedError


def compile_nvrtc(
    source: str | os.PathLike[str],
    options: NvrtcOptions | None = None,
    *,
    name: str | None = None,
) -> Module:
    """Compiles CUDA C++ source."""
    raise NotImplementedError


def load_ptx(
    ptx: str | bytes | os.PathLike[str],
    *,
    signature: str | Sequence[str] | None = None,
) -> Module:
    """Makes a module of PTX text."""
    raise NotImplementedError


def load_cubin(
    cubin: bytes | os.PathLike[str],
    *,
    signature: str | Sequence[str] | None = None,
) -> Module:
    """Makes a module of a cubin."""
    raise NotImplementedError


def default_target(platform: str, options: NvrtcOptions | None = None) -> Target:
    """Returns the target for the devices JAX has, or for the newest common GPU."""
    raise NotImplementedError
