"""The layers, read off the sources: who may import whom, and who may include what."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "jax_rawcuda"
NATIVE = ROOT / "ffi"

# Each row may import from the rows above it, and from its own.
LAYERS = [
    {"_errors"},
    {"_dtypes", "_launch", "_callbacks", "_compat", "_checking", "_ffi", "_extension"},
    {"_source", "_includes", "_signature", "_nvrtc", "_cache", "cpu", "_registration"},
    {"_globals", "_function", "_module"},
    {"_scalars", "_shapes", "_plan"},
    {"_commands", "_session", "_checked", "_guards"},
    {"_encoding", "_call_key", "_template"},
    {"_session_function", "_live_refs", "_live_device", "_live_program", "_retained"},
    {"_resources", "_live_session", "_live_call", "_live_transforms"},
    {"_primitive", "_op", "_live", "_kernel", "_capabilities"},
    {"_public"},
    {"__init__"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


def modules():
    return {p.stem: p for p in PACKAGE.glob("*.py") if p.stem != "__main__"}


def imports(path):
    """Names of the package's modules that a source imports, lazily or not."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and not type_checking_only(node, path):
            parts = (node.module or "").split(".")
            if node.level == 1:
                names = [parts[0]] if parts[0] else [a.name for a in node.names]
            elif parts[0] == "jax_rawcuda":
                names = parts[1:2] or [a.name for a in node.names]
            else:
                continue
            found.update(names)
    return found


def type_checking_only(node, path):
    tree = ast.parse(path.read_text())
    guarded = [
        inner.lineno
        for outer in ast.walk(tree)
        if isinstance(outer, ast.If) and "TYPE_CHECKING" in ast.unparse(outer.test)
        for inner in ast.walk(outer)
        if isinstance(inner, ast.ImportFrom)
    ]
    return node.lineno in guarded


def graph():
    names = modules()
    return {name: imports(path) & names.keys() for name, path in names.items()}


def test_modules_have_no_import_cycle():
    edges, done, open_ = graph(), set(), []

    def visit(name):
        if name in done:
            return
        assert name not in open_, f"cycle: {' -> '.join([*open_, name])}"
        open_.append(name)
        for other in edges[name]:
            visit(other)
        open_.pop()
        done.add(name)

    for name in edges:
        visit(name)


def test_layers_import_downwards():
    for name, others in graph().items():
        for other in others:
            if name in RANK and other in RANK:
                assert RANK[other] <= RANK[name], f"{name} imports {other}"


def test_the_cpu_package_stands_on_errors_and_cache():
    for path in (PACKAGE / "cpu").rglob("*.py"):
        depth = len(path.relative_to(PACKAGE).parts)
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            outer = node.level == depth
            absolute = re.match(r"jax_rawcuda\.(?!cpu)(\w+)", node.module)
            name = absolute[1] if absolute else node.module.split(".")[0]
            if (outer and name != "cpu") or absolute:
                assert name in {"_errors", "_cache", "_demangle", "_ffi"}, (
                    f"{path.name}: {name}"
                )


def test_private_jax_stays_in_one_file():
    for path in PACKAGE.rglob("*.py"):
        if path.stem != "_compat":
            assert "jax._src" not in path.read_text(), path


HOMES = {
    "nanobind/": ["bindings.cc", "python_hooks.h", "python_hooks.cc"],
    "xla/": ["handler.cc"],
    "cuda.h": ["driver.h"],
    "Python.h": ["bindings.cc"],
}


@pytest.mark.parametrize(("header", "homes"), HOMES.items())
def test_foreign_headers_have_one_home(header, homes):
    for path in NATIVE.rglob("*"):
        if path.suffix in (".h", ".cc"):
            for included in re.findall(r"#include [<\"]([^>\"]+)", path.read_text()):
                if included.startswith(header):
                    assert path.name in homes, f"{path.name} includes {included}"


def test_files_stay_small():
    python = [*PACKAGE.rglob("*.py"), *Path(__file__).parent.rglob("*.py")]
    for path in [*python, *NATIVE.rglob("*.h"), *NATIVE.rglob("*.cc")]:
        assert len(path.read_text().splitlines()) <= 300, path


def test_no_assert_on_user_input():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            assert not isinstance(node, ast.Assert), f"{path}:{node.lineno}"
