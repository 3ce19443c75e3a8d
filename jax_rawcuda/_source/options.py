"""NvrtcOptions: what a compilation may be told, checked when it is said."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .._base.errors import ValidationError
from .flags import read_flags

# What the headers of both compilers can be read as.
_STANDARDS = ("c++14", "c++17", "c++20", "c++23")
_ARCH = re.compile(r"(?:sm|compute)_\d{2,3}[af]?\Z")
# Flags that `extra` does not take, and what does.
_ELSEWHERE = {
    "gpu-architecture": "set NvrtcOptions.arch instead",
    "undefine-macro": "leave the macro out of NvrtcOptions.defines",
    "pre-include": "write an #include in the source",
}

Pairs = tuple[tuple[str, str], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class NvrtcOptions:
    """Options of one compilation. Equal options have equal hashes.

    Mappings and sequences are kept as tuples, in an order that does not matter.

    Attributes:
      arch: `sm_90` (a cubin) or `compute_90` (PTX); None takes the device's own.
      std: The language, such as `c++20`; None takes the compiler's default.
      defines: Macros by name; None as a value stands for 1.
      include_dirs: Directories searched before CUDA's own, but after the headers that
        the package has in their place: C's, and for the CPU CUDA's too.
      headers: Header texts by the name they are included under. They come before all.
      fast_math: Whether to trade accuracy, as `-use_fast_math` does.
      max_registers: Per thread, at most.
      line_info: Whether profilers may see source lines.
      debug: Whether to compile for a debugger, without optimisation.
      extra: Further flags of NVRTC. Those for a field above, such as `-DN=3` or
        `-std=c++20`, are moved there. The CPU follows `-fmad`, `-ftz` and
        `-default-device` as well, ignores what concerns only GPUs or messages
        (`-prec-div`, `-rdc`, `-Xptxas`, `-w`, ...), and refuses any other.
    """

    arch: str | None = None
    std: str | None = None
    defines: Mapping[str, str | int | None] | Pairs = ()
    include_dirs: Sequence[str | os.PathLike[str]] = ()
    headers: Mapping[str, str] | Pairs = ()
    fast_math: bool = False
    max_registers: int | None = None
    line_info: bool = False
    debug: bool = False
    extra: Sequence[str] = ()

    def __post_init__(self) -> None:
        settings: dict[str, Any] = {
            "defines": _pairs(self.defines, "defines"),
            "include_dirs": _include_dirs(self.include_dirs),
            "headers": _headers(self.headers),
            "extra": _extra(self.extra),
        }
        for name, value in settings.items():
            object.__setattr__(self, name, value)
        self._take_flags()
        object.__setattr__(self, "defines", _defines(self.defines))
        self._check_values()

    def _take_flags(self) -> None:
        """Moves the flags that have a field to it."""
        rest: list[str] = []
        for flag in read_flags(self.extra):
            value = flag.value or ""
            given = " ".join(flag.given)
            _check(
                flag.name not in _ELSEWHERE,
                "extra",
                given,
                _ELSEWHERE.get(flag.name, ""),
            )
            match flag.name:
                case "define-macro":
                    macro, equals, body = value.partition("=")
                    pairs = (*_pairs(self.defines), (macro, body if equals else None))
                    object.__setattr__(self, "defines", pairs)
                case "include-path":
                    dirs = (*self.include_dirs, *_include_dirs([value]))
                    object.__setattr__(self, "include_dirs", dirs)
                case "std":
                    self._take("std", value, given)
                case "maxrregcount":
                    number = int(value) if value.isdecimal() else value
                    self._take("max_registers", number, given)
                case "use_fast_math":
                    self._take("fast_math", value != "false", given)
                case "generate-line-info":
                    self._take("line_info", True, given)
                case "device-debug":
                    self._take("debug", True, given)
                case _:
                    rest += flag.given
        object.__setattr__(self, "extra", tuple(rest))

    def _take(self, name: str, value: object, flag: str) -> None:
        own = getattr(self, name)
        _check(
            own in (None, False, value), "extra", flag, f"{name}={own!r} is set, too"
        )
        object.__setattr__(self, name, value)

    def _check_values(self) -> None:
        _check(
            self.arch is None or _is(_ARCH, self.arch),
            "arch",
            self.arch,
            'a name such as "sm_90", "sm_100a" or "compute_90" is needed',
        )
        _check(
            self.std is None or self.std in _STANDARDS,
            "std",
            self.std,
            f"one of {', '.join(_STANDARDS)} is needed",
        )
        registers = self.max_registers
        _check(
            registers is None or (type(registers) is int and 1 <= registers <= 255),
            "max_registers",
            registers,
            "an int from 1 to 255 is needed",
        )
        for name in ("fast_math", "line_info", "debug"):
            value = getattr(self, name)
            _check(isinstance(value, bool), name, value, "True or False is needed")

    def flags(self) -> tuple[str, ...]:
        """Returns NVRTC's flags, without architecture and include directories."""
        flags = [f"--std={self.std}"] if self.std else []
        flags += [
            f"--define-macro={name}={value}" for name, value in _pairs(self.defines)
        ]
        if self.fast_math:
            flags.append("--use_fast_math")
        if self.max_registers is not None:
            flags.append(f"--maxrregcount={self.max_registers}")
        if self.line_info:
            flags.append("--generate-line-info")
        if self.debug:
            flags.append("--device-debug")
        return (*flags, *self.extra)

    @property
    def header_texts(self) -> dict[str, str]:
        """The in-memory headers, by name."""
        return dict(_pairs(self.headers))

    @property
    def macros(self) -> dict[str, str]:
        """The macros, by name."""
        return dict(_pairs(self.defines))

    @property
    def include_paths(self) -> tuple[str, ...]:
        """The directories, absolute; each must exist by now."""
        for directory in self.include_dirs:
            if not os.path.isdir(directory):  # noqa: PTH112
                raise ValidationError(
                    f"NvrtcOptions.include_dirs: there is no directory {directory!r}. "
                    "Create it, or leave it out."
                )
        return tuple(map(str, self.include_dirs))


def _defines(value: object) -> Pairs:
    pairs = []
    for name, macro in _pairs(value, "defines"):
        _check(
            isinstance(name, str) and name.isascii() and name.isidentifier(),
            "defines",
            name,
            "each name must be a C identifier",
        )
        if macro is None:
            macro = 1
        _check(
            isinstance(macro, int)
            or (isinstance(macro, str) and {"\0", "\n", "\r"}.isdisjoint(macro)),
            f"defines[{name!r}]",
            macro,
            "an int, a str of one line or None is needed",
        )
        pairs.append((name, str(int(macro)) if isinstance(macro, int) else macro))
    names = [name for name, _ in pairs]
    for name, macro in set(pairs):
        _check(
            names.count(name) == pairs.count((name, macro)),
            f"defines[{name!r}]",
            macro,
            "it has another value, too",
        )
    return tuple(sorted(set(pairs)))


def _headers(value: object) -> Pairs:
    pairs = _pairs(value, "headers")
    for name, text in pairs:
        _check(
            isinstance(name, str) and isinstance(text, str) and "\0" not in name + text,
            "headers",
            name,
            "a mapping from include name to text is needed",
        )
    return tuple(sorted(pairs))


def _include_dirs(value: object) -> tuple[str, ...]:
    directories = _sequence(value, "include_dirs", "a list of directories")
    for directory in directories:
        _check(
            isinstance(directory, str | os.PathLike) and "\0" not in str(directory),
            "include_dirs",
            directory,
            "each must be a path",
        )
    return tuple(
        os.path.abspath(os.path.expanduser(directory))  # noqa: PTH100, PTH111
        for directory in directories
    )


def _extra(value: object) -> tuple[str, ...]:
    flags = _sequence(value, "extra", "a list of flags")
    for flag in flags:
        _check(
            isinstance(flag, str) and "\0" not in flag and flag != "",
            "extra",
            flag,
            "each flag must be a non-empty str",
        )
    return tuple(flags)


def _pairs(value: object, name: str = "") -> tuple[tuple[str, Any], ...]:
    items = value.items() if isinstance(value, Mapping) else value
    try:
        if isinstance(items, Iterable) and not isinstance(items, str):
            return tuple((key, item) for key, item in items)
    except (TypeError, ValueError):
        pass
    raise ValidationError(f"NvrtcOptions.{name}={value!r}: a mapping is needed.")


def _sequence(value: object, name: str, needed: str) -> tuple[Any, ...]:
    _check(
        isinstance(value, Iterable) and not isinstance(value, str | bytes),
        name,
        value,
        f"{needed} is needed",
    )
    return tuple(value)  # type: ignore[arg-type]


def _is(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.match(value) is not None


def _check(fine: bool, name: str, value: object, needed: str) -> None:
    if not fine:
        raise ValidationError(f"NvrtcOptions.{name}={value!r}: {needed}.")
