"""Plan: equality by content, and the bytes that the C++ side reads."""

from __future__ import annotations

import hashlib
import struct
import zlib

import numpy as np
import pytest
from support.fakes import SAXPY, FakeFunction

import jax_rawcuda as rc
from jax_rawcuda._compile.target import Target
from jax_rawcuda._plan import encode as _encoding
from jax_rawcuda._plan import schedule as _schedule
from jax_rawcuda._plan.commands import (
    BufferRef,
    Copy,
    Fill,
    Launch,
    PointerArgument,
    ScalarArgument,
    Space,
    Synchronize,
)
from jax_rawcuda._plan.plan import Plan
from jax_rawcuda._types.arrays import ArrayType

F32 = np.dtype(np.float32)
VECTOR = ArrayType((5,), F32)


@pytest.fixture(autouse=True)
def _targets(monkeypatch):
    arch = {"cuda": "sm_90", "cpu": ""}
    monkeypatch.setattr(
        _schedule, "default_target", lambda p, _options=None: Target(p, arch[p])
    )


def encode(plan, platform):
    return _encoding.encode(plan, _schedule.schedule(plan, platform))


def saxpy_plan(a=b"\0\0\0@", function=SAXPY, **changes):
    operand, result = Space.OPERAND, Space.RESULT
    arguments = (
        PointerArgument(BufferRef(operand, 0)),
        PointerArgument(BufferRef(operand, 1)),
        ScalarArgument("float", a),
        PointerArgument(BufferRef(result, 0)),
        ScalarArgument("int", struct.pack("<i", 5)),
    )
    launch = Launch(function, rc.LaunchConfig.flat(5, 128), arguments)
    fields = {
        "op_name": "saxpy",
        "operands": (VECTOR, VECTOR),
        "results": (VECTOR,),
        "commands": (Fill(BufferRef(result, 1), 8, 4, 7), launch),
        "workspaces": (8,),
    }
    return Plan(**{**fields, **changes})


def test_plans_are_equal_by_content():
    assert saxpy_plan() == saxpy_plan()
    assert hash(saxpy_plan()) == hash(saxpy_plan())


@pytest.mark.parametrize(
    "other",
    [
        saxpy_plan(a=b"\0\0\0\xc0"),
        saxpy_plan(op_name="axpy"),
        saxpy_plan(workspaces=(16,)),
        saxpy_plan(commands=()),
        saxpy_plan(function=FakeFunction("saxpy(const float* x, float a, int m)")),
        saxpy_plan().batched(3, (True, False)),
        saxpy_plan(results=(ArrayType((5,), np.dtype(np.int32)),)),
    ],
)
def test_one_difference_makes_another_plan(other):
    assert other != saxpy_plan()


def test_repr_is_short():
    assert len(repr(saxpy_plan())) < 80


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from(f"<{form}", self.data, self.at)
        self.at += struct.calcsize(f"<{form}")
        return values if len(values) > 1 else values[0]

    def string(self):
        size = self.take("I")
        self.at += size
        return self.data[self.at - size : self.at]

    def sizes(self):
        count = self.take("I")
        return [self.take("Q") for _ in range(count)]


@pytest.mark.parametrize(("platform", "kind"), [("cuda", 1), ("cpu", 3)])
def test_bytes(platform, kind):
    attributes = encode(saxpy_plan(), platform)
    assert attributes["abi"] == 2
    text, images = attributes["plan"], attributes["images"]
    assert attributes["digest"] == hashlib.sha256(text + images).hexdigest()
    read = Reader(text)
    assert read.take("4s") == b"JRC1"
    assert read.string() == b"saxpy"
    assert read.sizes() == [20, 20]
    assert read.sizes() == [20, 8]
    assert read.take("II") == (1, 0)  # elements at once, batch axes
    assert read.take("I") == 1  # images
    assert read.take("B") == kind
    digest = read.take("32s")
    offset, stored, raw = read.take("QQQ")
    image = zlib.decompress(images[offset : offset + stored])
    assert len(image) == raw
    assert hashlib.sha256(image).digest() == digest
    assert read.take("I") == 1  # functions
    assert read.take("I") == 0
    assert (read.string(), read.string()) == (b"saxpy", b"saxpy")
    count = read.take("I")
    parameters = [(read.string(), read.take("I")) for _ in range(count)]
    assert parameters == [(b"x", 8), (b"y", 8), (b"a", 4), (b"out", 8), (b"n", 4)]
    assert read.take("I") == 2  # commands
    assert read.take("BBIQQBI") == (3, 1, 1, 0, 8, 4, 7)
    assert read.take("BI3I3I3III") == (1, 0, 1, 1, 1, 128, 1, 1, 0, 0, 0, 0, 0)
    assert read.take("I") == 5
    assert read.take("BBIQ") == (0, 0, 0, 0)
    assert read.take("BBIQ") == (0, 0, 1, 0)
    assert (read.take("B"), read.string()) == (1, b"\0\0\0@")
    assert read.take("BBIQ") == (0, 1, 0, 0)
    assert (read.take("B"), read.string()) == (1, struct.pack("<i", 5))
    assert read.at == len(text)


def test_other_commands():
    a, b = BufferRef(Space.OPERAND, 1, 4), BufferRef(Space.RESULT, 0, 8)
    plan = saxpy_plan(commands=(Copy(b, a, 12), Synchronize()), workspaces=())
    assert plan.synchronizes
    text = encode(plan, "cpu")["plan"]
    tail = struct.pack("<BBIQBIQQB", 2, 1, 0, 8, 0, 1, 4, 12, 4)
    assert text.endswith(struct.pack("<I", 2) + tail)


def test_batch_strides_skip_unbatched_operands():
    plan = saxpy_plan().batched(3, (True, False)).batched(7, (True, True))
    assert plan.batch_shape == (7, 3)
    text = encode(plan, "cpu")["plan"]
    read = Reader(text)
    read.take("4s"), read.string(), read.sizes(), read.sizes()
    assert read.take("II") == (21, 2)  # elements at once, axes
    assert read.take("5Q") == (7, 60, 20, 60, 3 * 256)  # outermost
    assert read.take("5Q") == (3, 20, 0, 20, 256)
    assert read.sizes() == [0, 256]  # begins anew with every piece


def test_images_are_stored_once():
    launch = saxpy_plan().commands[1]
    once = encode(saxpy_plan(commands=(launch,)), "cpu")
    twice = encode(saxpy_plan(commands=(launch, launch)), "cpu")
    assert once["images"] == twice["images"]
