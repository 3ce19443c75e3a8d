"""Headers: where CUDA's are, which ones a text needs, and which ones it opens."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ._declarations import strip_comments
from ._shims import SHIMS

_INCLUDE = re.compile(
    r'(?:#\s*include(?:_next)?|__has_include\s*\()\s*(["<])([^">\n]+)'
)
_COMPUTED_INCLUDE = re.compile(r'#\s*include\s+[^"<\s]')

# What a text, or a template argument, has to name for a header to be put in front.
_AUTO_INCLUDES = (
    ("cuda_fp16.h", r"\b(?:__half2?(?:_raw)?|nv_half2?|half2)\b"),
    ("cuda_bf16.h", r"\b(?:__nv_bfloat162?(?:_raw)?|nv_bfloat162?)\b"),
    ("cuda_fp8.h", r"\b__nv_fp8\w+"),
)
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
    wanted = [name for name, types in _AUTO_INCLUDES if re.search(types, used)]
    if _HALF.search(used) and not _OWN_HALF.search(text):
        wanted.insert(0, "cuda_fp16.h")
    included = {name for _, name in _INCLUDE.findall(text)}
    return tuple(dict.fromkeys(name for name in wanted if name not in included))


def headers_key(
    source: str, headers: Mapping[str, str], include_dirs: Sequence[str]
) -> tuple[str, ...]:
    """Returns what identifies the contents of every header that `source` may open.

    NVRTC does not tell what it opened. So includes are followed through the user's
    headers, whatever `#if` surrounds them; CUDA's own count as one, by version. Paths
    are left out: the same contents in two places have one key. An include that a macro
    computes puts all of `include_dirs` in the key.
    """
    seen: dict[str, str] = {}
    queue: list[tuple[str, Path | None]] = [(source, None)]
    external = False
    while queue:
        text, directory = queue.pop()
        text = strip_comments(text)
        if _COMPUTED_INCLUDE.search(text):
            seen["*"] = _digest_tree(include_dirs)
        for _, name in _INCLUDE.findall(text):
            found = list(_candidates(name, directory, headers, include_dirs))
            external = external or not found
            for contents, where in found:
                digest = hashlib.sha256(contents.encode()).hexdigest()
                if seen.get(f"{name}\0{digest}") is None:
                    seen[f"{name}\0{digest}"] = ""
                    queue.append((contents, where))
            seen.setdefault(name, "")
    if external:
        seen["cuda"] = cuda_headers_version()
    return tuple(sorted(f"{name}\0{value}" for name, value in seen.items()))


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


def _candidates(
    name: str,
    directory: Path | None,
    headers: Mapping[str, str],
    include_dirs: Sequence[str],
) -> Iterator[tuple[str, Path | None]]:
    """Yields the user's headers that `name` may mean, with the directory of a file."""
    if name in headers:
        yield headers[name], None
    folders = [directory] if directory else []
    for folder in (*folders, *map(Path, include_dirs)):
        path = folder / name
        if path.is_file():
            yield path.read_text(errors="replace"), path.parent
            return
    if name in SHIMS:  # ours: the version of the package stands for it
        yield "", None


def _digest_tree(include_dirs: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for directory in include_dirs:
        for path in sorted(Path(directory).rglob("*")):
            if path.is_file():
                digest.update(path.relative_to(directory).as_posix().encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
