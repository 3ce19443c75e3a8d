"""Which compiler reads a program, and for what."""

from __future__ import annotations

import dataclasses
from typing import Literal


@dataclasses.dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler with what it is told beside the program.

    Attributes:
      kind: `nvrtc`, for GPUs; `clang`, for the CPU route.
      arch: For NVRTC, such as `sm_90`.
      checked: Whether clang keeps what checked mode looks at.
    """

    kind: Literal["nvrtc", "clang"]
    arch: str = ""
    checked: bool = False


CLANG = Compiler("clang")


def nvrtc_for(arch: str) -> Compiler:
    """Returns NVRTC for an architecture; PTX comes out of a cubin's compilation."""
    return Compiler("nvrtc", arch.replace("compute", "sm"))
