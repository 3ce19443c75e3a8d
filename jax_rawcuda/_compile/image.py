"""Reads what PTX text and cubins say about their kernels and variables."""

from __future__ import annotations

import dataclasses
import re

from .._base.demangle import demangle
from .._base.errors import UnsupportedError, ValidationError
from .._types.signature import AbiParameter
from ..cpu import Module, parse


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """A kernel of an image.

    Attributes:
      symbol: Its name in the image.
      parameters: In order.
      max_threads: The bound of `__launch_bounds__`, None when there is none.
      registers: Per thread, None when the image does not say.
      local_bytes: Stack per thread, None when the image does not say.
    """

    symbol: str
    parameters: tuple[AbiParameter, ...]
    max_threads: int | None = None
    registers: int | None = None
    local_bytes: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class ImageVariable:
    """A `__constant__` or `__device__` variable of an image.

    Attributes:
      symbol: Its name in the image.
      name: Its name in C++, without the namespaces that hide it from other files.
      size: In bytes.
    """

    symbol: str
    name: str
    size: int

    @classmethod
    def of(cls, symbol: str, size: int) -> ImageVariable:
        """Names a variable."""
        return cls(symbol, _HIDING.sub("", demangle(symbol)), size)


_HIDING = re.compile(r"_INTERNAL_\w+::|_GLOBAL__N_\w*::|\(anonymous namespace\)::")

_ADVICE = "Give the output of NVRTC, nvcc --ptx or clang -S."


def _read(ptx: str) -> Module:
    if ".version" not in ptx or ".target" not in ptx:
        raise ValidationError(
            "load_ptx: the text has no .version and .target, so it is not PTX. "
            + _ADVICE
        )
    try:
        return parse(ptx)
    except UnsupportedError as error:
        raise ValidationError(f"load_ptx: {error}. {_ADVICE}") from error


def ptx_entries(ptx: str) -> tuple[Entry, ...]:
    """Lists the kernels of PTX text."""
    return tuple(
        Entry(
            function.name,
            tuple(AbiParameter(p.size, p.align, p.type) for p in function.parameters),
            function.max_threads,
        )
        for function in _read(ptx).functions.values()
        if function.entry
    )


def ptx_variables(ptx: str) -> tuple[ImageVariable, ...]:
    """Lists the variables of PTX text."""
    return tuple(
        ImageVariable.of(variable.name, variable.size)
        for variable in _read(ptx).variables.values()
        if variable.space in ("global", "const") and not variable.extern
    )
