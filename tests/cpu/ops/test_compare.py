"""Comparison and selection instructions, ordered and unordered."""

from __future__ import annotations

import numpy as np
import pytest
from support import exact as _exact
from support.exact import FORMATS
from support.ptx_checks import FLOATS, check_integers, flushed, register, typed
from support.ptx_runner import Form, bits, floats, run

pytest.importorskip("llvmlite")
ORDERED = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


@pytest.mark.parametrize("op", [*ORDERED, *UNSIGNED])
@pytest.mark.parametrize("name", ["u16", "s16", "u32", "s32", "u64", "s64"])
def test_integer_comparison(name: str, op: str) -> None:
    if op in UNSIGNED and name[0] == "s":
        pytest.skip("only for unsigned types")
    read = typed(name, int(name[1:]))
    kind = register(name)
    form = Form(f"setp.{op}.{name} %d, %a, %b;", (kind, kind), ("pred",))
    compare = ORDERED[UNSIGNED.get(op, op)]
    columns = bits(int(name[1:]), columns=2)
    check_integers(form, lambda a, b: int(compare(read(a), read(b))), columns)


@pytest.mark.parametrize("op", [*ORDERED, *(f"{o}u" for o in ORDERED), "num", "nan"])
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("ftz", ["", ".ftz"])
def test_float_comparison(kind: str, op: str, ftz: str) -> None:
    if ftz and kind != "f32":
        pytest.skip("tried with f32")

    def reference(a: int, b: int) -> int:
        values = [
            _exact.decode(flushed(v, kind) if ftz else v, FORMATS[kind])[1]
            for v in (a, b)
        ]
        unordered = None in values
        if op in ("num", "nan"):
            return int(unordered == (op == "nan"))
        if unordered:
            return int(op.endswith("u"))
        return int(ORDERED[op.removesuffix("u")](*values))

    name = "neu" if op == "neu" else op
    text = f"setp.{name}{ftz}.{kind} %d, %a, %b;"
    form = Form(text, (register(kind),) * 2, ("pred",))
    check_integers(form, reference, floats(kind, columns=2))


@pytest.mark.parametrize("word", ["and", "or", "xor"])
def test_combined_predicates(word: str) -> None:
    text = f"setp.lt.{word}.s32 %d|%q, %a, %b, %c;"
    form = Form(text, ("b32", "b32", "pred"), ("pred", "pred"))
    a, b = bits(32, columns=2)
    c = (np.arange(len(a)) % 2).astype(np.uint32)
    first, second = run(form, a, b, c)
    less = a.view(np.int32) < b.view(np.int32)
    combine = {
        "and": np.logical_and,
        "or": np.logical_or,
        "xor": np.logical_xor,
    }[word]
    np.testing.assert_array_equal(first, combine(less, c))
    np.testing.assert_array_equal(second, combine(~less, c))


def test_selection() -> None:
    a, b = bits(32, columns=2)
    p = (np.arange(len(a)) % 2).astype(np.uint32)
    (result,) = run(Form("selp.b32 %d, %a, %b, %c;", ("b32", "b32", "pred")), a, b, p)
    np.testing.assert_array_equal(result, np.where(p, a, b))
    (result,) = run(Form("slct.u32.s32 %d, %a, %b, %c;", ("b32",) * 3), a, b, b)
    np.testing.assert_array_equal(result, np.where(b.view(np.int32) >= 0, a, b))
    (c,) = floats("f32", len(a))
    c = np.resize(c, len(a))
    (result,) = run(Form("slct.b32.f32 %d, %a, %b, %c;", ("b32",) * 3), a, b, c)
    nan = c & 0x7FFFFFFF > 0x7F800000
    negative = (c >> 31 == 1) & (c != 0x80000000)
    np.testing.assert_array_equal(result, np.where(nan | negative, b, a))


@pytest.mark.parametrize(
    ("target", "true"),
    [("u32", 0xFFFFFFFF), ("s32", 0xFFFFFFFF), ("f32", 0x3F800000)],
)
def test_set(target: str, true: int) -> None:
    a, b = bits(32, columns=2)
    (result,) = run(Form(f"set.gt.{target}.u32 %d, %a, %b;", ("b32", "b32")), a, b)
    np.testing.assert_array_equal(result, np.where(a > b, true, 0))


@pytest.mark.parametrize("kind", ["f16x2", "bf16x2"])
def test_packed_comparison(kind: str) -> None:
    low, high = floats(kind[:-2], columns=2)
    a, b = (
        c.astype(np.uint32) | np.roll(c, 5).astype(np.uint32) << 16 for c in (low, high)
    )
    form = Form(f"setp.lt.{kind} %d|%q, %a, %b;", ("b32", "b32"), ("pred", "pred"))
    first, second = run(form, a, b)
    single = Form(f"setp.lt.{kind[:-2]} %d, %a, %b;", ("b16", "b16"), ("pred",))
    (expected,) = run(single, low, high)
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_array_equal(second, np.roll(expected, 5))
    (mask,) = run(Form(f"set.lt.u32.{kind} %d, %a, %b;", ("b32", "b32")), a, b)
    np.testing.assert_array_equal(mask & 0xFFFF, expected * 0xFFFF)
    np.testing.assert_array_equal(mask >> 16, np.roll(expected, 5) * 0xFFFF)
