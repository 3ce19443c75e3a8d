"""C headers that NVRTC lacks, as far as device code can use them.

They are files in `include/c`, which clang reads on the CPU route as well.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

_FOLDER = Path(__file__).parent.parent / "include" / "c"


@functools.cache
def shims() -> Mapping[str, str]:
    """Returns the headers' texts, by the name that they are included under."""
    files = sorted(path for path in _FOLDER.iterdir() if path.is_file())
    return MappingProxyType({path.name: path.read_text("utf-8") for path in files})
