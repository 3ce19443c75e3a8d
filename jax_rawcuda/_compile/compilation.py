"""Compiles a program: retries, diagnostics, the cache."""

from __future__ import annotations

from collections.abc import Callable

from . import nvrtc
from .frontends import Names
from .image import Entry, ptx_entries
from .result import NvrtcResult

_Run = Callable[[Names, Names], NvrtcResult]  # of (expressions, probes)


def kernel_entries(ptx: str) -> list[Entry]:
    """Lists the user's kernels in PTX text, without our probes."""
    return [entry for entry in ptx_entries(ptx) if nvrtc.PROBE not in entry.symbol]


def _untyped_symbols(result: NvrtcResult) -> Names:
    """Lists the kernels whose types neither the symbol nor a probe tells."""
    typed = {name.split("::")[-1] for name, _ in result.types}
    return tuple(
        entry.symbol
        for entry in kernel_entries(result.ptx)
        if entry.symbol not in typed and not entry.symbol.startswith("_Z")
    )
