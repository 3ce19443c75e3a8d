"""NVRTC: CUDA C++ text in, cubin and PTX out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence


@dataclasses.dataclass(frozen=True, slots=True)
class NvrtcOptions:
    """Options of one compilation."""

    arch: str | None = None
    std: str | None = None
    defines: Mapping[str, str | int | None] | Sequence[tuple[str, str]] = ()
    include_dirs: Sequence[str] = ()
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = ()
    fast_math: bool = False
    max_registers: int | None = None
    line_info: bool = False
    debug: bool = False
    extra: Sequence[str] = ()
