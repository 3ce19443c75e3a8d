"""Makes the XLA FFI handlers known to JAX, on first use."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import jax

from .._base import settings
from .._base.extension import ffi as _ffi
from .hooks import inflate, load_host_kernel, verify

# The version is that of the attributes. A saved program finds its handler by the name,
# and XLA refuses a second handler under it.
TARGET = "jax_rawcuda_session_v1"
SYNC_TARGET = "jax_rawcuda_session_sync_v1"  # XLA never records it in a CUDA graph

_STATE_TYPE = "jax_rawcuda_session_state_v1"
_TARGETS = {"session": TARGET, "session_sync": SYNC_TARGET}

_lock = threading.Lock()
_registered = False


def register() -> None:
    """Registers both targets on every platform; later calls do nothing.

    Raises:
      ImportError: The extension was built for a newer XLA than the running one.
    """
    global _registered
    if _registered:
        return
    with _lock:
        if not _registered:
            _check_version()
            settings.require_native()
            _ffi.set_hooks(inflate, load_host_kernel, verify)
            _register_handlers()
            _registered = True


def _register_handlers() -> None:
    types, handlers = _ffi.types(), _ffi.handlers()
    for platform in types:  # "CUDA" only where NVIDIA has drivers
        # XLA asks for the state's type while it registers a handler.
        jax.ffi.register_ffi_type(_STATE_TYPE, types[platform], platform=platform)
        for key, target in _TARGETS.items():
            jax.ffi.register_ffi_target(target, handlers[platform][key], platform)


def _check_version() -> None:
    # JAX queues registrations. A handler that XLA refuses would fail only when the
    # backend starts, and take the CPU backend or JAX's own CUDA handlers with it.
    running = xla_ffi_version()
    if running >= _ffi.API_VERSION:
        return
    built, found = (f"{v[0]}.{v[1]}" for v in (_ffi.API_VERSION, running))
    raise ImportError(
        f"jax_rawcuda was built for XLA FFI {built}, but jaxlib "
        f"{jax.lib.__version__} has {found}. Upgrade jax and jaxlib, or build "
        "jax_rawcuda from source against the installed jaxlib."
    )


def xla_ffi_version() -> tuple[int, int]:
    """Reads the version of the running jaxlib's FFI from the header that it ships."""
    text = (Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text()
    pairs = re.findall(r"#define XLA_FFI_API_(MAJOR|MINOR) (\d+)", text)
    version = {name: int(value) for name, value in pairs}
    return version["MAJOR"], version["MINOR"]
