"""Settings: every environment variable of the package, read and checked here.

They are read when they are needed, not on import: a notebook may set them later. Those
that the extension reads (ffi/base/settings.h) are checked here before it does.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Literal, cast

from .errors import ValidationError

_SWITCH = {"": False, "0": False, "1": True}
_SECONDS = re.compile(r"(\d+(\.\d*)?|\.\d+)?")
_MAX_DISK_BYTES = 1 << 30


def cache_dir() -> Path | None:
    """Where compiled code is kept; None when it is kept in memory only."""
    setting = os.environ.get("JAX_RAWCUDA_CACHE_DIR")
    if setting is None:
        import platformdirs

        return Path(platformdirs.user_cache_dir("jax_rawcuda", appauthor=False))
    if setting.strip().lower() in ("", "off"):
        return None
    return Path(setting).expanduser()


def cache_max_bytes() -> int:
    """The bound of that directory."""
    setting = os.environ.get("JAX_RAWCUDA_CACHE_MAX_BYTES", "")
    if not setting:
        return _MAX_DISK_BYTES
    if not setting.isdecimal():
        raise ValidationError(
            f"JAX_RAWCUDA_CACHE_MAX_BYTES={setting!r}: give a whole number of bytes."
        )
    return min(int(setting), sys.maxsize)


def clang() -> str:
    """The clang to use, a name or a path; "" when any will do."""
    return os.environ.get("JAX_RAWCUDA_CLANG", "")


def search_path() -> str:
    """Where programs are looked for."""
    return os.environ.get("PATH", "")


def cpu_frontend() -> Literal["clang", "nvrtc"]:
    """Whose PTX the CPU route translates."""
    setting = os.environ.get("JAX_RAWCUDA_CPU_FRONTEND", "clang")
    if setting not in ("clang", "nvrtc"):
        raise ValidationError(
            f"JAX_RAWCUDA_CPU_FRONTEND={setting!r}: 'clang' or 'nvrtc' is needed."
        )
    return cast(Literal["clang", "nvrtc"], setting)


def check() -> bool:
    """Whether every kernel is checked, as `rc.checking()` does."""
    setting = os.environ.get("JAX_RAWCUDA_CHECK", "")
    if setting not in _SWITCH:
        raise ValidationError(
            f"JAX_RAWCUDA_CHECK={setting!r}: 0 or 1 is needed, before the process "
            "starts."
        )
    return _SWITCH[setting]


def log() -> bool:
    """Whether each program says, as it is made, which way its launches take."""
    setting = os.environ.get("JAX_RAWCUDA_LOG", "")
    if setting not in _SWITCH:
        raise ValidationError(f"JAX_RAWCUDA_LOG={setting!r}: 0 or 1 is needed.")
    return _SWITCH[setting]


def require_native() -> None:
    """Refuses values of `JAX_RAWCUDA_CPU_TIMEOUT` and `_DEBUG`, for the extension.

    Raises:
      ValidationError: The extension would not understand one of them.
    """
    timeout = os.environ.get("JAX_RAWCUDA_CPU_TIMEOUT", "")
    if not _SECONDS.fullmatch(timeout):
        raise ValidationError(
            f"JAX_RAWCUDA_CPU_TIMEOUT={timeout!r}: seconds are needed, as 10 or 0.5."
        )
    debug = os.environ.get("JAX_RAWCUDA_DEBUG", "")
    if debug not in _SWITCH:
        raise ValidationError(f"JAX_RAWCUDA_DEBUG={debug!r}: 0 or 1 is needed.")
