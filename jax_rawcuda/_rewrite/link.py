"""nvJitLink: PTX in, cubin out. Needs no GPU, no driver."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from .._base.errors import BackendError, CompileError, UnsupportedError
from .._source.flags import read_flags

# NVRTC's flags that matter to machine code, and what nvJitLink calls them. Code for a
# debugger has lost its debug sections with what they describe; lines it keeps.
_FLAGS = {
    "maxrregcount": "-maxrregcount={}",
    "generate-line-info": "-lineinfo",
    "device-debug": "-lineinfo",
    "ptxas-options": "-Xptxas={}",
    "Xptxas": "-Xptxas={}",
}


@functools.cache
def _binding() -> ModuleType | None:
    """The binding of nvJitLink, None when it or the library is missing."""
    try:
        from cuda.bindings import nvjitlink

        nvjitlink.version()
    except (ImportError, RuntimeError, OSError):
        return None
    return nvjitlink  # type: ignore[no-any-return]


def is_available() -> bool:
    """Tells whether nvJitLink is installed and loads."""
    return _binding() is not None


@functools.cache
def version() -> tuple[int, int]:
    """Returns nvJitLink's version, such as (13, 5).

    Raises:
      UnsupportedError: It is not installed.
    """
    major, minor = _call("version")
    return int(major), int(minor)


def version_text() -> str:
    """Returns nvJitLink's version as people write it, such as 13.5."""
    return ".".join(map(str, version()))


def link_flags(flags: Sequence[str]) -> tuple[str, ...]:
    """Returns nvJitLink's flags for code that NVRTC compiled with others."""
    return tuple(
        dict.fromkeys(
            _FLAGS[flag.name].format(flag.value)
            for flag in read_flags(flags)
            if flag.name in _FLAGS and flag.value != "false"
        )
    )


def link(ptx: str, arch: str, flags: Sequence[str] = ()) -> bytes:
    """Compiles PTX to a cubin.

    Args:
      ptx: The text, which needs nothing from elsewhere.
      arch: Such as `sm_90`.
      flags: Further flags of nvJitLink.

    Raises:
      CompileError: The text is wrong or newer than nvJitLink, or not for `arch`, or
        nvJitLink does not know `arch` or a flag.
      BackendError: nvJitLink failed otherwise.
      UnsupportedError: It is not installed.
    """
    options = [f"-arch={arch}", *flags]
    try:
        handle = _call("create", len(options), options)
    except BackendError as error:  # an architecture or flag that it does not know
        raise _failure(ptx, arch, options, str(error)) from error
    try:
        _compile(handle, ptx, arch, options)
        cubin = bytearray(_call("get_linked_cubin_size", handle))
        _call("get_linked_cubin", handle, cubin)
    finally:
        _call("destroy", handle)
    return bytes(cubin)


def _compile(handle: int, ptx: str, arch: str, options: Sequence[str]) -> None:
    data = ptx.encode()
    try:
        kind = _nvjitlink().InputType.PTX
        _call("add_data", handle, kind, data, len(data), "rewritten.ptx")
        _call("complete", handle)
    except BackendError as error:
        log = _error_log(handle)
        if not log:
            raise
        raise _failure(ptx, arch, options, log) from error


def _failure(ptx: str, arch: str, options: Sequence[str], log: str) -> CompileError:
    given = f"nvJitLink {version_text()}, options: {' '.join(options)}"
    message = f"rewritten PTX failed to link for {arch} ({given}).\n{log}"
    return CompileError(message, log, ptx, tuple(options), arch)


def _error_log(handle: int) -> str:
    log = bytearray(_call("get_error_log_size", handle))
    if log:
        _call("get_error_log", handle, log)
    return log.decode(errors="replace").strip("\0 \n")


def _nvjitlink() -> ModuleType:
    binding = _binding()
    if binding is None:
        raise UnsupportedError(
            "nvJitLink is not installed, or its library does not load. "
            "Run: pip install cuda-bindings nvidia-nvjitlink"
        )
    return binding


def _call(function: str, *arguments: Any) -> Any:
    """Calls nvJitLink; its binding raises on any status but success."""
    binding = _nvjitlink()
    try:
        return getattr(binding, function)(*arguments)
    except binding.nvJitLinkError as error:
        code = binding.Result(error.status).name
        raise BackendError(f"nvJitLink: {function} failed: {code}.", code) from None
