"""`__cluster_dims__`, which clang does not write into PTX: read off the source."""

from __future__ import annotations

import re

from ..._base.demangle import demangle

_VARIABLE = "__jax_rawcuda_cluster"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# The attribute with its arguments, then the kernel's name before its parameters.
_ATTRIBUTE = re.compile(
    r"__cluster_dims__\s*\(([^()]*)\)(?:[^;{}()]|__\w+__\s*\([^()]*\))*?"
    r"\b(?!__)(\w+)\s*\("
)
_VALUE = re.compile(
    rf"^\.visible \.global [^\n]*\b{_VARIABLE}_(\d+)\[3\](?: = \{{([\d, ]+)\}})?;\n",
    re.MULTILINE,
)
_ENTRY = re.compile(
    r"^(\.visible |\.weak )?\.entry (\S+)\([^()]*\)[^\n{]*\n", re.MULTILINE
)


def cluster_dims(source: str) -> list[tuple[str, str]]:
    """Lists (kernel, extents as C++ text) of the attributes in a source."""
    if "__cluster_dims__" not in source:
        return []
    found = _ATTRIBUTE.findall(_COMMENT.sub(" ", source))
    return [(name, extents) for extents, name in found]


def cluster_lines(source: str) -> list[str]:
    """Returns lines that make clang evaluate the extents, to follow the source."""
    lines = []
    for index, (name, extents) in enumerate(cluster_dims(source)):
        lines.append(f'#line 1 "__cluster_dims__ of {name}"')
        lines.append(
            'extern "C" { __device__ __attribute__((used)) unsigned char '
            f"{_VARIABLE}_{index}[3] = {{{extents}}}; }}"
        )
    return lines


def with_cluster_dims(source: str, ptx: str) -> str:
    """Moves the evaluated extents into directives of the kernels' entries."""
    names = [name for name, _ in cluster_dims(source)]
    extents = {}
    for index, numbers in _VALUE.findall(ptx):
        values = [max(int(n), 1) for n in numbers.split(",") if n.strip()]
        extents[names[int(index)]] = ", ".join(map(str, (*values, 1, 1, 1)[:3]))
    if not extents:
        return ptx

    def directed(entry: re.Match[str]) -> str:
        base = re.split(r"[<(]", demangle(entry[2]))[0].split("::")[-1].split(" ")[-1]
        if base not in extents:
            return entry[0]
        return f"{entry[0]}.explicitcluster\n.reqnctapercluster {extents[base]}\n"

    return _ENTRY.sub(directed, _VALUE.sub("", ptx))
