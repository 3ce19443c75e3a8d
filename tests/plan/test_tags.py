"""Python and C++ give each number in a plan one meaning."""

from __future__ import annotations

import re
import struct

import pytest
from support.paths import ROOT

from jax_rawcuda._plan import commands, labels, tags
from jax_rawcuda._types import launch

HEADER = (ROOT / "ffi/plan/tags.h").read_text()
LIMITS = (ROOT / "ffi/base/limits.h").read_text()
ENUMS = [
    tags.CommandTag,
    tags.ArgumentTag,
    tags.ImageKind,
    tags.ImageFlag,
    tags.LaunchFlag,
    commands.Space,
    labels.BufferState,
]


def numbers_in_header():
    """Returns every enum of the header: name -> {NAME_OF_MEMBER: number}."""
    found = {}
    for name, body in re.findall(r"enum class (\w+) : \w+ \{(.*?)\};", HEADER, re.S):
        pairs = re.findall(r"k(\w+) = (\w+)", body)
        found[name] = {
            re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).upper(): int(value, 0)
            for key, value in pairs
        }
        assert len(pairs) == body.count("=")
    return found


def test_every_enum_of_the_header_is_known():
    assert sorted(numbers_in_header()) == sorted(kind.__name__ for kind in ENUMS)


@pytest.mark.parametrize("kind", ENUMS, ids=lambda kind: kind.__name__)
def test_the_numbers_are_the_same(kind):
    assert numbers_in_header()[kind.__name__] == {m.name: m.value for m in kind}


@pytest.mark.parametrize(
    ("constant", "magic"),
    [("kPlanMagic", tags.PLAN_MAGIC), ("kLabelsMagic", tags.LABELS_MAGIC)],
)
def test_the_magic_numbers_are_the_same(constant, magic):
    (number,) = re.findall(rf"{constant} = (0x\w+)", HEADER)
    assert struct.pack("<I", int(number, 16)) == magic


@pytest.mark.parametrize(
    ("constant", "limit"),
    [
        ("kMaxThreads", (launch.MAX_THREADS,)),
        ("kMaxBlock", launch.MAX_BLOCK),
        ("kMaxGrid", launch.MAX_GRID),
    ],
)
def test_the_limits_are_the_same(constant, limit):
    (text,) = re.findall(rf"{constant} = ([^;]+);", LIMITS)
    assert tuple(int(number) for number in re.findall(r"\d+", text)) == limit
