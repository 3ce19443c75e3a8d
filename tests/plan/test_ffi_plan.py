"""What the extension accepts as a plan: every field, cut short, damaged, random."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.plan_bytes import (
    AT_ONCE,
    COOPERATIVE,
    HOST_PTX,
    batch_axis,
    copy,
    encode,
    fill,
    function,
    launch,
    operand,
    pointer,
    result,
    scalar,
    synchronize,
    u8,
    u32,
)

from jax_rawcuda import _ffi


def saxpy_plan(**geometry):
    """A plan that uses every section of the format."""
    arguments = [pointer(operand(0)), pointer(result(0)), scalar(b"\0\0\0\0")]
    parameters = [("x", 8), ("out", 8), ("n", 4)]
    return encode(
        [
            launch(0, geometry.pop("arguments", arguments), **geometry),
            copy(result(0, 4), operand(0), 8),
            fill(result(1), 8, 4, 7),
            synchronize(),
        ],
        name="saxpy",
        operands=[16],
        results=[16, 8],
        batch=[batch_axis(3, 16, 16, 8)],
        images=[(HOST_PTX, b"image")],
        functions=[function("saxpy", parameters)],
    )


def message_id(value) -> str:
    return value if isinstance(value, str) else "-"


def check(encoded) -> str:
    return _ffi.check_plan(encoded.plan, encoded.images)


def test_a_valid_plan_is_accepted():
    assert check(saxpy_plan()) == ""
    assert check(encode()) == ""


@pytest.mark.parametrize(
    ("geometry", "message"),
    [
        ({"grid": (1, 65536, 1)}, r"grid=\(1, 65536, 1\)"),
        ({"block": (0, 1, 1)}, r"block=\(0, 1, 1\)"),
        ({"block": (32, 32, 2)}, r"block=\(32, 32, 2\)"),
        ({"block": (1, 1, 65)}, r"block=\(1, 1, 65\)"),
        ({"grid": (3, 1, 1), "cluster": (2, 1, 1)}, r"cluster=\(2, 1, 1\)"),
        ({"grid": (32, 1, 1), "cluster": (32, 1, 1)}, r"cluster=\(32, 1, 1\)"),
        ({"cluster": (1, 0, 1)}, r"cluster=\(1, 0, 1\)"),
        ({"shared_mem_bytes": 2**31}, "shared memory"),
        ({"flags": 8}, "flags 8"),
        ({"flags": COOPERATIVE | AT_ONCE}, "cannot serve 1 batch elements at once"),
        ({"arguments": []}, "0 arguments; it has 3 parameters"),
    ],
    ids=message_id,
)
def test_geometry_out_of_range_is_refused(geometry, message):
    with pytest.raises(AssertionError, match=message):
        assert check(saxpy_plan(**geometry)) == ""
    assert check(saxpy_plan(**geometry)).startswith("saxpy: malformed plan: command 0")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([pointer(operand(1)), pointer(result(0)), scalar(b"1234")], "operand 1 of 1"),
        ([pointer(operand(0, 17)), pointer(result(0)), scalar(b"1234")], "offset 17"),
        ([pointer(operand(0)), pointer(result(2)), scalar(b"1234")], "result 2 of 2"),
        ([pointer(operand(0)), pointer(result(0)), scalar(b"123")], "'n' has 4 bytes"),
        ([pointer(operand(0)), scalar(b"1234"), scalar(b"1234")], "'out' has 8 bytes"),
        ([u8(4) + u32(0), scalar(b"1234"), scalar(b"1234")], "argument kind 4"),
    ],
    ids=message_id,
)
def test_wrong_arguments_are_refused(arguments, message):
    assert message in check(saxpy_plan(arguments=arguments))


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (copy(result(0), operand(0), 17), "takes 17 bytes at offset 0 of result 0"),
        (copy(result(0), operand(0, 8), 9), "takes 9 bytes at offset 8 of operand 0"),
        (copy(result(0), operand(0, 2**63), 8), "at offset 9223372036854775808"),
        (copy(operand(0), result(0), 4), "writes to operand 0"),
        (copy(result(0, 4), result(0), 8), "overlapping"),
        (fill(result(0), 16, 3, 0), "width 3"),
        (fill(result(0), 15, 4, 0), "misaligned"),
        (fill(result(0, 2), 4, 4, 0), "misaligned"),
        (fill(result(0), 16, 2, 65536), "wider"),
        (u8(9), "tag 9"),
        (u8(2), "cut short"),
    ],
    ids=message_id,
)
def test_commands_out_of_range_are_refused(command, message):
    assert message in check(encode([command], operands=[16], results=[16]))


@pytest.mark.parametrize(
    ("encoded", "message"),
    [
        (encode(operands=[1] * 1025), "the limit is 1024"),
        (encode(batch=[batch_axis(1)] * 17), "17 batch axes"),
        (encode(batch=[batch_axis(2**20)] * 2), "batch elements"),
        (encode(operands=[1], batch=[batch_axis(3, 2**63)]), "address space"),
        (encode(images=[(4, b"")]), "kind 4"),
        (encode(functions=[function("k", [])]), "image 0 of 0"),
        (encode(images=[(1, b"")], functions=[function("k", [("a", 0)])]), "empty"),
        (encode(images=[(1, b"")], functions=[function("k", [("a", 32765)])]), "32764"),
        (encode(name=b"\xff"), "not UTF-8"),
    ],
    ids=message_id,
)
def test_sections_out_of_range_are_refused(encoded, message):
    assert message in check(encoded)


def test_images_outside_of_their_attribute_are_refused():
    encoded = saxpy_plan()
    assert "image 0 ends after" in _ffi.check_plan(encoded.plan, encoded.images[:-1])


def test_every_truncation_is_refused():
    plan, images = saxpy_plan().plan, saxpy_plan().images
    for length in range(len(plan)):
        assert _ffi.check_plan(plan[:length], images) != ""
    assert "follow the last command" in _ffi.check_plan(plan + b"\0", images)


VALID = saxpy_plan()
EDITS = st.lists(
    st.tuples(st.integers(0, len(VALID.plan) - 1), st.binary(min_size=1, max_size=8)),
    max_size=4,
)


@settings(max_examples=1500, deadline=None)
@given(edits=EDITS, cut=st.integers(0, len(VALID.plan)), tail=st.binary(max_size=8))
@example(edits=[(0, b"x")], cut=len(VALID.plan), tail=b"")
def test_mutated_plans_never_crash(edits, cut, tail):
    plan = bytearray(VALID.plan)
    for position, data in edits:
        plan[position : position + len(data)] = data
    assert isinstance(_ffi.check_plan(bytes(plan[:cut]) + tail, VALID.images), str)


@settings(max_examples=200, deadline=None)
@given(plan=st.binary(max_size=200))
def test_random_plans_never_crash(plan):
    assert _ffi.check_plan(b"JRC1" + plan, b"") != "" or len(plan) >= 28
