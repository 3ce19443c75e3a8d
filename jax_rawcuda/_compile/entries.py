"""The kernels of a compiled text or a finished image: name, symbol, types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .._base.demangle import demangle
from .._source.declared import canonical_type
from .._types.signature import c_spelling, split_function_type, split_symbol
from .compilation import kernel_entries
from .image import Entry
from .result import CompileResult


class Kernel(NamedTuple):
    """A kernel of an image; `types` is None when nothing tells them."""

    entry: Entry
    name: str
    types: tuple[str, ...] | None


def list_kernels(result: CompileResult) -> list[Kernel]:
    """Lists the kernels of a compiled source."""
    types = {name: split_function_type(c_type) for name, c_type in result.types}
    instances = {symbol: name for name, symbol in result.lowered_names}
    kernels = []
    for entry in kernel_entries(result.ptx):
        if name := instances.get(entry.symbol):
            kernels.append(Kernel(entry, name, types[name]))
        else:
            kernels.append(typed(entry, types))
    return kernels


def typed(entry: Entry, types: Mapping[str, tuple[str, ...]]) -> Kernel:
    """Names a kernel: its symbol tells the type, unless it is `extern "C"`."""
    parts = split_symbol(demangle(entry.symbol))
    if parts is not None:
        return Kernel(entry, *parts)
    for name, known in types.items():
        if name.split("::")[-1] == entry.symbol:
            return Kernel(entry, name, known)
    return Kernel(entry, entry.symbol, None)


def matching(kernels: Sequence[Kernel], name: str) -> list[Kernel]:
    """Returns those that `name`, or `name(types)`, may mean.

    A type may be spelled as people do, `const float*`, or as compilers do.
    """
    wanted = _overload(split_symbol(name))
    return [
        kernel
        for kernel in kernels
        if name in (kernel.name, kernel.entry.symbol)
        or (wanted and wanted == _overload((kernel.name, kernel.types or ())))
    ]


def spelled(kernel: Kernel) -> str:
    """Returns `name(types)`, the types as people spell them."""
    return f"{kernel.name}({', '.join(map(c_spelling, kernel.types or ()))})"


def _overload(
    named: tuple[str, tuple[str, ...]] | None,
) -> tuple[str, tuple[str, ...]] | None:
    return named and (named[0], tuple(map(canonical_type, named[1])))
