"""The documents: what they mention exists, and what is public they mention."""

from __future__ import annotations

import inspect
import re

import pytest
from support.paths import ROOT

import jax_rawcuda as rc

DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")]
FOR_USERS = [ROOT / "README.md", *ROOT.glob("docs/*.md")]
TESTS = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
NAMES = [name for name in dir(rc) if not name.startswith("_")]

every_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)


def anchors(document):
    """What the headings of a document are called in links."""
    titles = re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}


@every_document
def test_relative_links(document):
    for link in re.findall(r"\]\(([^)\s]+)\)", document.read_text()):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@every_document
def test_named_files_exist(document):
    """Paths in backquotes: from the root, the package, or beside the document."""
    folders = [ROOT, ROOT / "jax_rawcuda", ROOT / "tests", document.parent]
    for code in re.findall(r"`([^`\n]+)`", document.read_text()):
        for path in re.findall(r"(?<![\w./])[\w./]+\.(?:py|md|cc|cu)\b", code):
            assert (
                any((folder / path).exists() for folder in folders) or path in TESTS
            ), path


def test_the_design_says_where_things_are():
    rows = re.findall(
        r"`((?:jax_rawcuda|ffi)/\w+)`", (ROOT / "docs/design.md").read_text()
    )
    package, native = ROOT / "jax_rawcuda", ROOT / "ffi"
    folders = [path for path in package.glob("_*") if path.is_dir()]
    folders += [package / "cpu", *(path for path in native.glob("*") if path.is_dir())]
    named = {ROOT / row for row in rows}
    unnamed = {p for p in folders if p not in named and p.name != "__pycache__"}
    assert unnamed == {native / "base"}


@pytest.mark.parametrize("name", NAMES)
def test_public_names_are_documented(name):
    word = re.compile(rf"\brc\.{name}\b")
    assert any(word.search(document.read_text()) for document in FOR_USERS)


def test_documented_names_are_public():
    for document in FOR_USERS:
        for name in re.findall(r"\brc\.(\w+)", document.read_text()):
            assert hasattr(rc, name), f"{document.name}: rc.{name}"


def test_settings_are_documented():
    sources = [*ROOT.glob("jax_rawcuda/**/*.py"), *ROOT.glob("ffi/**/*.cc")]
    text = "".join(path.read_text() for path in sources)
    table = (ROOT / "README.md").read_text().partition("## Settings")[2]
    rows = re.findall(r"^\| `(\w+)` \|", table.partition("\n## ")[0], re.MULTILINE)
    assert sorted(set(re.findall(r'"(JAX_RAWCUDA_\w+)"', text))) == sorted(rows)


def public_functions():
    """(label, function, documentation of what it is part of) of all that users call."""
    for name in NAMES:
        value = getattr(rc, name)
        if not inspect.isclass(value):
            yield name, value, ""
            continue
        for key, member in inspect.getmembers_static(value):
            function = getattr(member, "__func__", member)
            if not key.startswith("_") and inspect.isfunction(function):
                yield f"{name}.{key}", function, value.__doc__


def section(function, title):
    text = inspect.getdoc(function) or ""
    found = re.search(rf"^{title}:\n((?: .*\n|\n)+)", f"{text}\n", re.MULTILINE)
    return found[1] if found else ""


FUNCTIONS = {label: (f, outer) for label, f, outer in public_functions()}


@pytest.mark.parametrize("label", FUNCTIONS)
def test_docstrings(label):
    function, outer = FUNCTIONS[label]
    assert inspect.getdoc(function)
    for parameter in inspect.signature(function).parameters:
        if parameter not in ("self", "cls"):
            listed = rf"^  (\*?\w+, )*\*{{0,2}}{parameter}(, \w+)*: "
            here = re.search(listed, section(function, "Args"), re.MULTILINE)
            assert here or f"({parameter})`" in outer, parameter
    if re.search(r"^\s+raise \w", inspect.getsource(function), re.MULTILINE):
        assert section(function, "Raises")


@pytest.mark.parametrize("name", NAMES)
def test_classes_name_their_fields(name):
    value = getattr(rc, name)
    assert inspect.getdoc(value)
    fields = getattr(value, "__dataclass_fields__", {})
    listed = section(value, "Attributes") + section(value, "Args")
    for field in fields:
        assert re.search(rf"^  (\w+, )*{field}(, \w+)*: ", listed, re.MULTILINE), field
