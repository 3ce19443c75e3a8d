"""The compiled extension, or what to do when it is not there."""

from __future__ import annotations

from pathlib import Path

try:
    from .. import _ffi as ffi
except ImportError as error:
    folder = Path(__file__).parent.parent
    if any(folder.glob("_ffi*.so")) or any(folder.glob("_ffi*.pyd")):
        raise
    raise ImportError(
        f"jax_rawcuda: {folder} holds the sources, without the compiled extension, and "
        "hides the installed package. Start Python in another folder, or with -P."
    ) from error

__all__ = ["ffi"]
