"""The import rule, read off the sources: who may import whom and include what.

Every function takes the root of a checkout: tests plant mistakes in a copy.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

# A folder may import from folders before it, and from itself.
ORDER = [
    "_base",
    "cpu",
    "_types",
    "_source",
    "_device",
    "_compile",
    "_rewrite",
    "_module",
    "_plan",
    "_xla",
    "_session",
    "_kernel",
    "_live",
    "_public",
    "__init__",
]
APART = {
    frozenset(pair)
    for pair in [
        ("_types", "_source"),
        ("_kernel", "_live"),
        ("cpu", "_types"),
        ("cpu", "_source"),
    ]
}
# The same below jax_rawcuda/cpu, where files that are in no folder stand among them.
CPU_ORDER = [
    "abi",
    "llvm_types",
    "ptx",
    "sync",
    "analysis",
    "check",
    "transforms",
    "emit",
    "ops",
    "check_table",
    "translate",
    "llvm",
    "frontend",
    "variable_memory",
    "jit",
    "__init__",
]
CPU_APART = {
    *(frozenset(("frontend", other)) for other in CPU_ORDER[: CPU_ORDER.index("llvm")]),
    frozenset(("check", "transforms")),
}
CPU_GROUND = {
    "_base.cache",
    "_base.demangle",
    "_base.errors",
    "_base.settings",
    "_base.text",
    "_ffi",
}

# C++: a folder may include from the folders that it names, and from itself.
NATIVE = {
    "base": "",
    "plan": "base",
    "cuda": "base plan",
    "cpu/base": "base",
    "cpu/launch": "base cpu/base",
    "cpu/warp": "base cpu/base",
    "cpu/check": "base cpu/base cpu/launch cpu/warp",
    "cpu/block": "base cpu/base cpu/launch cpu/warp cpu/check",
    "cpu/helpers": "base cpu/base cpu/launch cpu/warp cpu/check cpu/block",
    "cpu/schedule": "base cpu/base cpu/launch cpu/warp cpu/check cpu/block cpu/helpers",
    "cpu/replay": "base plan cpu/base cpu/launch cpu/warp cpu/check cpu/block "
    "cpu/helpers cpu/schedule",
    "entry": "base plan cuda cpu/base cpu/helpers cpu/schedule cpu/replay",
}
FOREIGN = {
    "nanobind/": {
        "entry/bindings.cc",
        "entry/host_kernel.h",
        "entry/host_kernel.cc",
        "entry/python_hooks.h",
        "entry/python_hooks.cc",
    },
    "xla/": {"entry/handler.cc"},
    "cuda.h": {"cuda/driver.h"},
    "Python.h": {"entry/bindings.cc"},
}


class Import(NamedTuple):
    """An import of one file of the package by another.

    Attributes:
      importer: Dotted name inside of the package; `__init__` for the package itself.
      imported: Likewise.
      name: What is taken; "" for the module itself.
      line: Where.
    """

    importer: str
    imported: str
    name: str
    line: int


def modules(root: Path) -> dict[str, Path]:
    """Returns the package's files by dotted name, such as `cpu.ptx.types`."""
    package = root / "jax_rawcuda"
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        found[".".join(parts)] = path
    return found


def imports(root: Path) -> Iterator[Import]:
    """Finds each import of the package's own files, lazy and type-only ones too."""
    known = modules(root)
    for importer, path in known.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.split(".")[0] == "jax_rawcuda":
                        inner = alias.name.partition(".")[2]
                        yield Import(importer, _file(inner, known), "", node.lineno)
            elif isinstance(node, ast.ImportFrom):
                base = _base(importer, node)
                if base is None:
                    continue
                for alias in node.names:
                    inner = f"{base}.{alias.name}".lstrip(".")
                    if inner in known or f"{inner}.__init__" in known:
                        yield Import(importer, _file(inner, known), "", node.lineno)
                    else:
                        file = _file(base, known)
                        yield Import(importer, file, alias.name, node.lineno)


def _base(importer: str, node: ast.ImportFrom) -> str | None:
    """Returns the dotted name after `from`, inside of the package."""
    if node.level == 0:
        package, _, inner = (node.module or "").partition(".")
        return inner if package == "jax_rawcuda" else None
    parts = importer.split(".")[: -node.level]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _file(name: str, known: Mapping[str, Path]) -> str:
    return name if name in known else f"{name}.__init__".lstrip(".")


def _folder(name: str, below: str = "") -> str:
    """Returns the folder directly below `below`, or the file's name if it is there."""
    return name.removeprefix(below).split(".")[0]


def misplaced(root: Path) -> list[str]:
    """Lists files in no folder of the order, and imports against it."""
    wrong = []
    for name in modules(root):
        if _folder(name) not in ORDER:
            wrong.append(f"{name}: has no rank")
        if name.startswith("cpu.") and _folder(name, "cpu.") not in CPU_ORDER:
            wrong.append(f"{name}: has no rank")
    for edge in imports(root):
        if edge.importer == "__init__" and edge.imported == "_public":
            continue  # lazy on purpose
        what = f"{edge.importer}:{edge.line} imports {edge.imported}"
        inside = [name.startswith("cpu.") for name in edge[:2]]
        if all(inside):
            low, high, order, apart = "cpu.", "", CPU_ORDER, CPU_APART
        else:
            low, order, apart = "", ORDER, APART
        if inside == [True, False]:
            ground = edge.imported if edge.imported != "__init__" else edge.name
            if ground.removesuffix(".__init__") not in CPU_GROUND:
                wrong.append(f"{what}: the emulator knows only {sorted(CPU_GROUND)}")
            continue
        if inside == [False, True] and edge.imported != "cpu.__init__":
            wrong.append(f"{what}: the emulator's one door is jax_rawcuda.cpu")
        high = _folder(edge.importer, low)
        other = _folder(edge.imported, low)
        if other in ("_ffi", "_ffi.__init__") or edge.name == "_ffi":
            continue
        if other not in order or high not in order:
            wrong.append(f"{what}: no such folder")
        elif order.index(other) > order.index(high) or {high, other} in apart:
            wrong.append(what)
    return wrong


def circles(root: Path) -> list[str]:
    """Lists circles of imports among files, type-only imports included."""
    edges: dict[str, set[str]] = {name: set() for name in modules(root)}
    for edge in imports(root):
        if (edge.importer, edge.imported) != ("__init__", "_public"):
            edges[edge.importer].add(edge.imported)
    return [" -> ".join(circle) for circle in _circles(edges)]


def _circles(edges: Mapping[str, set[str]]) -> Iterator[list[str]]:
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> Iterator[list[str]]:
        if name in path:
            yield [*path[path.index(name) :], name]
        elif name not in done:
            for other in sorted(edges.get(name, ())):
                yield from visit(other, [*path, name])
            done.add(name)

    for name in sorted(edges):
        yield from visit(name, [])


def handed_on(root: Path) -> list[str]:
    """Lists names that are imported from a file that does not define them."""
    defined: dict[str, set[str]] = {}
    for name, path in modules(root).items():
        defined[name] = _defined(ast.parse(path.read_text()))
    wrong = []
    for edge in imports(root):
        faces = {"__init__", "_public", "cpu.__init__"}
        if not edge.name or edge.imported in faces or edge.imported not in defined:
            continue
        if edge.name not in defined[edge.imported]:
            what = f"{edge.importer}:{edge.line} takes {edge.name} from {edge.imported}"
            wrong.append(f"{what}, which does not define it")
        elif edge.name.startswith("_"):
            what = f"{edge.importer}:{edge.line} takes the private {edge.name}"
            wrong.append(f"{what} of {edge.imported}")
    return wrong


def _defined(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    found |= {"ffi"} if "from .. import _ffi as ffi" in ast.unparse(tree) else set()
    return found


def private_jax(root: Path) -> list[str]:
    """Lists files that know private names of JAX, other than the one that may."""
    return [
        name
        for name, path in modules(root).items()
        if name != "_base.compat" and "jax._src" in path.read_text()
    ]


def misincluded(root: Path) -> list[str]:
    """Lists C++ files in no folder, and includes against the order or the homes."""
    native = root / "ffi"
    wrong = []
    edges: dict[str, set[str]] = {}
    for path in sorted([*native.rglob("*.h"), *native.rglob("*.cc")]):
        name = str(path.relative_to(native))
        folder = name.rpartition("/")[0]
        if folder not in NATIVE:
            wrong.append(f"{name}: has no rank")
            continue
        allowed = {folder, *NATIVE[folder].split()}
        for included in re.findall(r'#include [<"]([^>"]+)', path.read_text()):
            if included.startswith("ffi/"):
                other = included.removeprefix("ffi/")
                edges.setdefault(name, set()).add(other)
                if other.rpartition("/")[0] not in allowed:
                    wrong.append(f"{name} includes {other}")
            for header, homes in FOREIGN.items():
                if included.startswith(header) and name not in homes:
                    wrong.append(f"{name} includes {included}")
    return [*wrong, *(" -> ".join(circle) for circle in _circles(edges))]
