"""The layers hold, and the rule notices when they do not."""

from __future__ import annotations

import ast
import shutil

import pytest
from support import layout
from support.paths import ROOT

RULES = [
    layout.misplaced,
    layout.circles,
    layout.handed_on,
    layout.private_jax,
    layout.misincluded,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_sources_keep_the_rule(rule):
    assert rule(ROOT) == []


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of the sources, to plant mistakes in."""
    root = tmp_path_factory.mktemp("layout")
    ignored = shutil.ignore_patterns("__pycache__", "include", "*.so")
    for folder in ("jax_rawcuda", "ffi"):
        shutil.copytree(ROOT / folder, root / folder, ignore=ignored)
    return root


TYPE_ONLY = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "
# (rule, file, what is written at its end, what the report says)
PLANTED = {
    "import of a later stage": (
        layout.misplaced,
        "jax_rawcuda/_types/dtypes.py",
        "from .._plan.plan import Plan",
        "_types.dtypes",
    ),
    "lazy import of a later stage": (
        layout.misplaced,
        "jax_rawcuda/_plan/plan.py",
        "def f():\n    from jax_rawcuda._kernel import kernel",
        "_plan.plan",
    ),
    "folders that do not know each other": (
        layout.misplaced,
        "jax_rawcuda/_live/op.py",
        "from .._kernel.kernel import Kernel",
        "_live.op",
    ),
    "a side door to the emulator": (
        layout.misplaced,
        "jax_rawcuda/_xla/hooks.py",
        "from ..cpu.ptx.module import parse",
        "one door",
    ),
    "the emulator looks out": (
        layout.misplaced,
        "jax_rawcuda/cpu/translate.py",
        "from .._types.dtypes import spell_array",
        "the emulator knows only",
    ),
    "a later stage of the emulator": (
        layout.misplaced,
        "jax_rawcuda/cpu/ptx/types.py",
        "from ..emit.ir import IrWriter",
        "cpu.ptx.types",
    ),
    "PTX in the front end": (
        layout.misplaced,
        "jax_rawcuda/cpu/frontend/clang.py",
        "from ..ptx.module import parse",
        "cpu.frontend.clang",
    ),
    "a file without a place": (
        layout.misplaced,
        "jax_rawcuda/_misc.py",
        "import os",
        "_misc: has no rank",
    ),
    "a file of the emulator without a place": (
        layout.misplaced,
        "jax_rawcuda/cpu/misc.py",
        "import os",
        "cpu.misc: has no rank",
    ),
    "a circle in a folder": (
        layout.circles,
        "jax_rawcuda/_types/dtypes.py",
        "from .scalars import pack_scalar",
        "_types.dtypes",
    ),
    "a circle of types": (
        layout.circles,
        "jax_rawcuda/_plan/commands.py",
        f"{TYPE_ONLY}from .plan import Plan",
        "_plan.commands",
    ),
    "a name from where it is not defined": (
        layout.handed_on,
        "jax_rawcuda/_kernel/kernel.py",
        "from .._session.op import Session",
        "takes Session from _session.op",
    ),
    "a private name": (
        layout.handed_on,
        "jax_rawcuda/_base/disk_cache.py",
        "from .settings import _SWITCH",
        "_SWITCH",
    ),
    "a private name of JAX": (
        layout.private_jax,
        "jax_rawcuda/_xla/export.py",
        "from jax._src import core",
        "_xla.export",
    ),
    "an include of a later folder": (
        layout.misincluded,
        "ffi/base/error.h",
        '#include "ffi/plan/plan.h"',
        "base/error.h includes plan/plan.h",
    ),
    "a plan in the emulator": (
        layout.misincluded,
        "ffi/cpu/block/block.h",
        '#include "ffi/plan/plan.h"',
        "cpu/block/block.h includes plan/plan.h",
    ),
    "a circle of headers": (
        layout.misincluded,
        "ffi/plan/labels.h",
        '#include "ffi/plan/plan.h"',
        "plan/labels.h -> ",
    ),
    "XLA outside of its home": (
        layout.misincluded,
        "ffi/cuda/replay.cc",
        '#include "xla/ffi/api/ffi.h"',
        "cuda/replay.cc includes xla/ffi/api/ffi.h",
    ),
    "a header without a place": (
        layout.misincluded,
        "ffi/misc.h",
        "#pragma once",
        "misc.h: has no rank",
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_is_found(copied, name):
    rule, file, text, report = PLANTED[name]
    path = copied / file
    before = path.read_text() if path.exists() else None
    try:
        path.write_text(f"{before or ''}\n{text}\n")
        assert [line for line in rule(copied) if report in line]
    finally:
        path.unlink() if before is None else path.write_text(before)
    assert rule(copied) == []


def test_no_assert_on_user_input():
    for name, path in layout.modules(ROOT).items():
        for node in ast.walk(ast.parse(path.read_text())):
            assert not isinstance(node, ast.Assert), f"{name}:{node.lineno}"
