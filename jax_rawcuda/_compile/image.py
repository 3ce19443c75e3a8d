"""Reads what PTX text and cubins say about their kernels and variables."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator

from .._base.demangle import demangle
from .._base.errors import ValidationError
from .._types.signature import AbiParameter


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

_PTX_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PTX_ENTRY = re.compile(
    r"\.entry\s+([\w$%]+)\s*(?:\(([^)]*)\))?\s*((?:\.\w+[^.{;]*)*)[{;]"
)
_PTX_PARAM = re.compile(
    r"\.param\s+(?P<attributes>(?:\.align\s+\d+\s+)?)\.(?P<type>[a-z]+\d+)"
    r"(?:\s+\.ptr[^,]*?)?\s+[\w$%]+(?:\[(?P<count>\d+)\])?\s*(?:,|\Z)"
)
_PTX_MAXNTID = re.compile(r"\.(?:max|req)ntid\s+([\d\s,]+)")


def ptx_entries(ptx: str) -> tuple[Entry, ...]:
    """Lists the kernels of PTX text."""
    if ".version" not in ptx or ".target" not in ptx:
        raise ValidationError(
            "load_ptx: the text has no .version and .target, so it is not PTX. "
            "Give the output of NVRTC, nvcc --ptx or clang -S."
        )
    entries = []
    for match in _PTX_ENTRY.finditer(_PTX_COMMENT.sub(" ", ptx)):
        symbol, parameters, directives = match.groups(default="")
        bound = _PTX_MAXNTID.search(directives)
        max_threads = math.prod(map(int, bound[1].split(","))) if bound else None
        entries.append(Entry(symbol, tuple(_ptx_parameters(parameters)), max_threads))
    return tuple(entries)


_PTX_VARIABLE = re.compile(
    r"^[ \t]*(?:\.(?:visible|weak|common)\s+)?\.(?:global|const)\s+"
    r"(?:\.align\s+\d+\s+)?\.[a-z]+(?P<bits>\d+)\s+(?P<symbol>[\w$]+)"
    r"(?:\[(?P<count>\d+)\])?\s*[=;]",
    re.MULTILINE,
)


def ptx_variables(ptx: str) -> tuple[ImageVariable, ...]:
    """Lists the variables of PTX text."""
    return tuple(
        ImageVariable.of(m["symbol"], int(m["bits"]) // 8 * int(m["count"] or 1))
        for m in _PTX_VARIABLE.finditer(_PTX_COMMENT.sub(" ", ptx))
    )


def _ptx_parameters(text: str) -> Iterator[AbiParameter]:
    for match in _PTX_PARAM.finditer(text):
        unit = int(re.sub(r"\D", "", match["type"])) // 8
        align = re.search(r"\d+", match["attributes"])
        yield AbiParameter(
            size=unit * int(match["count"] or 1),
            align=int(align[0]) if align else unit,
            abi=match["type"],
        )
