"""The functions that generated code may call: as many as it needs, and no more."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import jax_rawcuda.cpu
from jax_rawcuda import _ffi
from jax_rawcuda.cpu.ops.floating.libm import SIGNATURES

PACKAGE = Path(jax_rawcuda.cpu.__file__).parent
SYMBOLS = frozenset(_ffi.host_symbols())
# What LLVM's code generator calls on its own, where the C library has it.
GENERATED = {
    *("memcpy", "memmove", "memset", "roundeven", "roundevenf", "sincos", "sincosf"),
    *("__extendhfsf2", "__truncsfhf2", "__truncdfhf2", "__truncsfbf2", "__truncdfbf2"),
    *("__divti3", "__modti3", "__multi3", "__udivti3", "__umodti3"),
}


def literals(tree):
    """Patterns of the strings in a source; `f"a_{b}"` becomes `a_\\w+`."""
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    pieces = {id(piece) for string in strings for piece in string.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in pieces:
            yield re.escape(str(node.value))
    for string in strings:
        yield "".join(
            re.escape(str(piece.value)) if isinstance(piece, ast.Constant) else r"\w+"
            for piece in string.values
        )


def helpers():
    """Patterns of the `jrc_*` names that the translator may write."""
    for path in PACKAGE.rglob("*.py"):
        for pattern in literals(ast.parse(path.read_text())):
            if re.match(r"jrc_(?!prelude)[\\\w+]+$", pattern):
                yield pattern


HELPERS = sorted(set(helpers()))


@pytest.mark.parametrize("pattern", HELPERS)
def test_every_helper_that_is_called_exists(pattern):
    assert any(re.fullmatch(pattern, symbol) for symbol in SYMBOLS)


def test_every_helper_is_called():
    ours = {symbol for symbol in SYMBOLS if symbol.startswith("jrc_")}
    unused = [s for s in ours if not any(re.fullmatch(p, s) for p in HELPERS)]
    assert not unused


def test_the_c_library_is_complete_and_nothing_else():
    theirs = {symbol for symbol in SYMBOLS if not symbol.startswith("jrc_")}
    assert theirs - GENERATED <= SIGNATURES.keys()
    missing = SIGNATURES.keys() - theirs
    # Single precision Bessel functions are an extension of some C libraries.
    assert missing <= {"j0f", "j1f", "jnf", "y0f", "y1f", "ynf"}
