"""Flags of NVRTC: which are options by another name, and which the CPU can follow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .._base.errors import UnsupportedError

# Both the short and the long names may have one dash or two.
_LONG = {
    "D": "define-macro",
    "U": "undefine-macro",
    "I": "include-path",
    "include": "pre-include",
    "arch": "gpu-architecture",
    "lineinfo": "generate-line-info",
    "G": "device-debug",
    "default-device": "device-as-default-execution-space",
}
_WITH_VALUE = {"define-macro", "undefine-macro", "include-path", "pre-include"}
_JOINED = re.compile(r"-([DUI])(.+)", re.DOTALL)
_FLAG = re.compile(r"--?([A-Za-z][\w-]*)(?:=(.*))?", re.DOTALL)

# What a GPU's code alone has, and what only changes what the compiler says or how long
# it takes. Divisions and roots are exact on the CPU, and may be.
_ONLY_FOR_GPUS = re.compile(
    "prec-div|prec-sqrt|restrict|extra-device-vectorization|relocatable-device-code|rdc"
    "|device-c|dc|dlink-time-opt|dlto|ptxas-options|Xptxas|dopt|minimal|split-compile"
    "|fdevice-.*|Ofast-compile|device-int128|device-float128|jump-table-density"
    "|disable-warnings|w|diag-.*|display-error-number|no-display-error-number|err-no"
    "|no-err-no|brief-diagnostics|version-ident|time|no-cache|pch.*|create-pch|use-pch"
)


class Flag(NamedTuple):
    """A flag as it was given, its long name, and its value if it has one."""

    given: tuple[str, ...]
    name: str
    value: str | None


def read_flags(flags: Sequence[str]) -> Iterator[Flag]:
    """Yields flags; one of two words, such as `-D N=3`, counts once."""
    words = iter(flags)
    for word in words:
        if joined := _JOINED.fullmatch(word):
            name, value = _LONG[joined[1]], joined[2].removeprefix("=")
            yield Flag((word,), name, value)
            continue
        found = _FLAG.fullmatch(word)
        name = found[1] if found else ""
        name, value = _LONG.get(name, name), found[2] if found else None
        given: tuple[str, ...] = (word,)
        if name in _WITH_VALUE and value is None:
            value = next(words, None)
            given = (word, value or "")
        yield Flag(given, name, value)


class ClangFlags(NamedTuple):
    """What clang is told: flags, and a text before the user's."""

    flags: tuple[str, ...]
    front: str


def clang_flags(extra: Sequence[str]) -> ClangFlags:
    """Translates flags of NVRTC for the CPU.

    Raises:
      UnsupportedError: One may change what a kernel computes, in a way not known here.
    """
    flags, front = [], ""
    for flag in read_flags(extra):
        match flag.name, flag.value:
            case "fmad", "false":
                flags.append("-ffp-contract=off")
            case "ftz", "true":
                flags.append("-fgpu-flush-denormals-to-zero")
            case "device-as-default-execution-space", None:
                front = "#pragma clang force_cuda_host_device begin\n"
            case ("fmad", "true") | ("ftz", "false"):
                pass
            case name, _ if not _ONLY_FOR_GPUS.fullmatch(name):
                raise UnsupportedError(
                    f"NvrtcOptions.extra: what {' '.join(flag.given)!r} means on the "
                    "CPU is not known. Leave it out there."
                )
    return ClangFlags(tuple(flags), front)
