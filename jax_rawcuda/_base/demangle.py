"""Itanium C++ symbols back to source spellings, by the C++ runtime's own function."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable

from .errors import UnsupportedError, ValidationError

_LIBRARIES = {
    "darwin": ("libc++abi.dylib", "/usr/lib/libc++abi.dylib", "libc++.1.dylib"),
    "win32": ("libstdc++-6.dll", "libc++.dll", "c++.dll"),
}
_LINUX = ("libstdc++.so.6", "libc++abi.so.1", "libc++.so.1")


def demangle(symbol: str) -> str:
    """Returns the C++ spelling of a symbol.

    Args:
      symbol: A symbol as it stands in PTX. One that is not mangled, such as the name of
        an `extern "C"` kernel, comes back as it is.

    Raises:
      ValidationError: `symbol` starts like a mangled name but is not one.
      UnsupportedError: No C++ runtime library could be loaded.
    """
    if not symbol.startswith("_Z"):
        return symbol
    text = _runtime()(symbol.encode())
    if text is None:
        raise ValidationError(f"{symbol!r} is not a mangled C++ name.")
    return text.decode()


@functools.cache
def _runtime() -> Callable[[bytes], bytes | None]:
    names = _LIBRARIES.get(sys.platform, _LINUX)
    for name in names:
        try:
            library = ctypes.CDLL(name)
            function = library.__cxa_demangle
            release = library.free  # from the C library that the runtime links
        except (OSError, AttributeError):
            continue
        return functools.partial(_call, function, release)
    raise UnsupportedError(
        "Reading a kernel's signature needs the C++ runtime's `__cxa_demangle`; none "
        f"of {', '.join(names)} could be loaded. Install the C++ runtime library."
    )


# Not typed as ctypes' classes: `_FuncPtr` has no public name.
def _call(
    function: Callable[..., int | None],
    release: Callable[[ctypes.c_void_p], object],
    symbol: bytes,
) -> bytes | None:
    function.restype = ctypes.c_void_p  # type: ignore[attr-defined]
    status = ctypes.c_int()
    address = function(symbol, None, None, ctypes.byref(status))
    if not address:
        return None
    text = ctypes.string_at(address)
    release(ctypes.c_void_p(address))
    return text
