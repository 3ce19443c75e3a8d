"""The CCCL package (`cuda::std`, `cub`), and the one edit clang needs in it."""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path

from .toolchain import scratch_folder

# Holds around a header that must take its branch for compilers other than NVRTC; see
# our include/cuda/std/__cccl/compiler.h.
_AS_HOST_COMPILER = """#pragma once
#include <cuda/std/__cccl/compiler.h>
#undef _CCCL_COMPILER_NVRTC
#define _CCCL_COMPILER_NVRTC() _CCCL_VERSION_INVALID()
{text}
#undef _CCCL_COMPILER_NVRTC
#define _CCCL_COMPILER_NVRTC() (__CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__)
"""
_BARRIER = Path("cuda/__barrier/barrier_block_scope.h")


@functools.cache
def cccl_include_dirs() -> tuple[str, ...]:
    """Returns the folders of CCCL's headers; none when it is not installed."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for include in sorted(Path(folder).glob("*/include/cccl")):
            if (include / "cuda" / "std").is_dir():
                return (*_edited(include), str(include))
    return ()


@functools.cache
def cccl_identity() -> str:
    """Returns what changes when the headers of CCCL do."""
    folders = cccl_include_dirs()
    if not folders:
        return ""
    version = Path(folders[-1]) / "cub" / "version.cuh"
    return repr((folders[-1], version.read_bytes() if version.is_file() else b""))


def _edited(cccl: Path) -> tuple[str, ...]:
    """A folder with a `cuda::barrier` that may be a __shared__ variable.

    clang refuses __shared__ variables with a destructor; nvcc never calls it there.
    """
    source = cccl / _BARRIER
    if not source.exists():
        return ()
    text, found = re.subn(
        r"^ *_CCCL_HOST_DEVICE_API ~barrier\(\)\n  \{\n.*?^  \}\n",
        "",
        source.read_text(encoding="utf-8"),
        count=1,
        flags=re.MULTILINE | re.DOTALL,
    )
    if not found:
        return ()
    folder = Path(scratch_folder()) / "cccl"
    (folder / _BARRIER).parent.mkdir(parents=True, exist_ok=True)
    (folder / _BARRIER).write_text(
        _AS_HOST_COMPILER.format(text=text), encoding="utf-8"
    )
    return (str(folder),)
