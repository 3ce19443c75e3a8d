"""One folder for the files that clang reads, removed when the process ends."""

from __future__ import annotations

import atexit
import functools
import tempfile


@functools.cache
def scratch_folder() -> str:
    """Returns this process's folder, made on first use."""
    folder = tempfile.TemporaryDirectory(prefix="jax_rawcuda-")
    atexit.register(folder.cleanup)
    return folder.name
