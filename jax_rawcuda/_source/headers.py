"""CUDA's headers: where they are, and which ones a text needs but does not include."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from .tokens import strip_comments

_INCLUDE = re.compile(r'#\s*include(?:_next)?\s*["<]([^">\n]+)')

# What a text, or a template argument, has to name for a header to be put in front.
AUTO_INCLUDES = {
    "cuda_fp16.h": r"\b(?:__\w*half2?\w*|nv_half2?|half2)\b",
    "cuda_bf16.h": r"\b(?:__\w*bfloat16\w*|nv_bfloat162?)\b",
    "cuda_fp8.h": r"\b__nv_fp8\w+",
    "cuda/std/complex": r"\bcuda::std::complex\b",
}
_HALF = re.compile(r"\bhalf\b")
# `float half = 0.5f`, `#define half`, `f(float half)`: a name of the user's own.
_OWN_HALF = re.compile(
    r"\b(?!(?:const|volatile|typename|return|case)\b)\w+[*&]*\s+half\s*[=;,()\[{]"
    r"|#\s*define\s+half\b|\b(?:using|struct|class)\s+half\b"
)


@functools.cache
def cuda_include_dirs() -> tuple[Path, ...]:
    """Returns the directories of CUDA's runtime headers and CCCL, as far as found."""
    try:
        from cuda.pathfinder import find_nvidia_header_directory
    except ImportError:
        return ()
    found = (find_nvidia_header_directory(name) for name in ("cudart", "cccl"))
    return tuple(Path(directory) for directory in found if directory)


def auto_includes(source: str, expressions: Sequence[str] = ()) -> tuple[str, ...]:
    """Lists the headers that the text uses types of and does not include itself."""
    text = strip_comments(source)
    used = "\n".join((text, *expressions))
    wanted = [name for name, types in AUTO_INCLUDES.items() if re.search(types, used)]
    if _HALF.search(used) and not _OWN_HALF.search(text):
        wanted.insert(0, "cuda_fp16.h")
    included = set(_INCLUDE.findall(text))
    return tuple(dict.fromkeys(name for name in wanted if name not in included))


@functools.cache
def cuda_headers_version() -> str:
    """Returns a digest that changes when CUDA's or CCCL's headers do."""
    digest = hashlib.sha256()
    for directory in cuda_include_dirs():
        for entry in sorted(os.scandir(directory), key=lambda entry: entry.name):
            size = entry.stat().st_size if entry.is_file() else 0
            digest.update(f"{entry.name}:{size}\n".encode())
        version = directory / "cub" / "version.cuh"
        if version.is_file():
            digest.update(version.read_bytes())
    return digest.hexdigest()
