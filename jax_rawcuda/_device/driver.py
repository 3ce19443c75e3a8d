"""The CUDA driver as Python asks it; every call is checked."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from .._base.errors import BackendError, UnsupportedError


@functools.cache
def _driver() -> ModuleType | None:
    """The driver's binding once `cuInit` has found a device, else None."""
    try:
        from cuda.bindings import driver

        (status,) = driver.cuInit(0)
        _, count = driver.cuDeviceGetCount()
    except (ImportError, RuntimeError, OSError):
        return None
    return driver if status.value == 0 and count else None


def has_device() -> bool:
    """Tells whether there is a GPU to ask."""
    return _driver() is not None


def require_device(kernel: str) -> ModuleType:
    """Returns the driver's binding, or says what is missing."""
    driver = _driver()
    if driver is None:
        raise UnsupportedError(
            f"{kernel}: this question needs a CUDA device and its driver, libcuda. "
            "Ask on a machine with a GPU."
        )
    return driver


def call_driver(owner: str, function: str, *arguments: Any) -> Any:
    """Calls the driver and returns what it returns besides the status.

    Args:
      owner: For messages.
      function: The entry point, such as `cuMemAlloc`.
      *arguments: As its Python binding takes them.

    Raises:
      BackendError: The driver refused.
    """
    status, *values = getattr(require_device(owner), function)(*arguments)
    if status.value != 0:
        raise BackendError(f"{owner}: {function} failed: {status.name}.", status.name)
    return values[0] if len(values) == 1 else tuple(values)


@contextlib.contextmanager
def device_context(owner: str, ordinal: int) -> Iterator[None]:
    """Makes a device's primary context current in this thread."""
    device = call_driver(owner, "cuDeviceGet", ordinal)
    context = call_driver(owner, "cuDevicePrimaryCtxRetain", device)
    try:
        call_driver(owner, "cuCtxPushCurrent", context)
        try:
            yield
        finally:
            call_driver(owner, "cuCtxPopCurrent")
    finally:
        call_driver(owner, "cuDevicePrimaryCtxRelease", device)
