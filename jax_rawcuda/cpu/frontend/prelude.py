"""Our headers, precompiled: parsing them costs more than a small kernel does."""

from __future__ import annotations

import functools
import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..._base import cache
from .toolchain import C_INCLUDE_DIR, INCLUDE_DIR, Clang, scratch_folder

_PRELUDE = "jrc_prelude.h"
# The headers worth precompiling when a source mentions them.
LARGE_HEADERS = ("cuda_fp16.h", "cuda_bf16.h")


def prelude_flags(
    clang: Clang, flags: Sequence[str], headers: Sequence[str] = ()
) -> tuple[str, ...]:
    """Returns the flags that include the prelude.

    Args:
      clang: The compiler.
      flags: All flags that change the language or the prelude's own macros.
      headers: Those of `LARGE_HEADERS` that the source is going to include.

    Returns:
      Flags that name a precompiled prelude, or the header itself when clang could not
      precompile it.
    """
    path = _precompiled(clang, tuple(flags), (_PRELUDE, *headers))
    if path is None:
        return "-include", _PRELUDE
    return "-Xclang", "-include-pch", "-Xclang", path


@functools.lru_cache(maxsize=16)
def _precompiled(
    clang: Clang, flags: tuple[str, ...], headers: tuple[str, ...]
) -> str | None:
    key = cache.fingerprint(clang.fingerprint, headers_digest(), *flags, *headers)
    try:
        data = cache.lookup("pch", key, lambda: _precompile(clang, flags, headers))
        path = Path(scratch_folder()) / f"{key[:32]}.pch"
        path.write_bytes(data)
    except OSError:
        return None
    return str(path)


def _precompile(
    clang: Clang, flags: tuple[str, ...], headers: tuple[str, ...]
) -> bytes:
    path = Path(scratch_folder()) / "new.pch"
    # Without time stamps a reinstalled package keeps its precompiled prelude: the key
    # holds the headers' content.
    emit = ("-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp")
    includes = f"-I{INCLUDE_DIR}", f"-I{C_INCLUDE_DIR}"
    done = subprocess.run(
        [*clang.command, *flags, *emit, *includes, "-o", str(path), "-"],
        input="".join(f"#include <{name}>\n" for name in headers).encode(),
        capture_output=True,
        check=False,
        cwd=INCLUDE_DIR,
    )
    if done.returncode:
        raise OSError(done.stderr.decode(errors="replace"))
    return path.read_bytes()


@functools.cache
def headers_digest() -> str:
    """Returns a digest of all our headers, and of where they are."""
    digest = hashlib.sha256()
    for folder in (INCLUDE_DIR, C_INCLUDE_DIR):
        digest.update(str(folder).encode())
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            digest.update(path.read_bytes())
    return digest.hexdigest()
