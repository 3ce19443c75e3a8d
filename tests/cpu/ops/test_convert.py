"""Conversions and comparisons, against exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from support import exact as _exact
from support.exact import FORMATS, NAN
from support.ptx_checks import (
    FLOATS,
    check_floats,
    check_integers,
    clamp,
    flushed,
    register,
    typed,
)
from support.ptx_runner import Form, bits, floats, run

pytest.importorskip("llvmlite")
INTEGERS = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
ROUND = {
    "rni": round,
    "rzi": math.trunc,
    "rmi": math.floor,
    "rpi": math.ceil,
}


def limits(name: str) -> tuple[int, int]:
    width = int(name[1:])
    if name[0] == "s":
        return -(1 << width - 1), (1 << width - 1) - 1
    return 0, (1 << width) - 1


@pytest.mark.parametrize("sat", ["", ".sat"])
@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", INTEGERS)
def test_integers(target: str, source: str, sat: str) -> None:
    have, want = int(source[1:]), int(target[1:])
    read, form = typed(source, have), register(target)

    def reference(a: int) -> int:
        value = read(a & (1 << have) - 1)
        value = clamp(value, *limits(target)) if sat else value
        # A narrow result fills its register as its type's sign says.
        return typed(target, want)(value & (1 << want) - 1)

    (column,) = bits(int(register(source)[1:]))
    text = f"cvt{sat}.{target}.{source} %d, %a;"
    check_integers(Form(text, (register(source),), (form,)), reference, [column])


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("mode", ROUND)
def test_float_to_integer(mode: str, target: str, source: str) -> None:
    width = int(target[1:])
    low, high = limits(target)

    def reference(a: int) -> int:
        _, value = _exact.decode(a, FORMATS[source])
        if value is None:
            return 1 << width - 1 if source == "f64" or width == 64 else 0
        if isinstance(value, float):
            return high if value > 0 else low
        return clamp(ROUND[mode](value), low, high)

    def filled(a: int) -> int:
        return typed(target, width)(reference(a) & (1 << width) - 1)

    text = f"cvt.{mode}.{target}.{source} %d, %a;"
    form = Form(text, (register(source),), (register(target),))
    check_integers(form, filled, floats(source))


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_integer_to_float(mode: str, target: str, source: str) -> None:
    width = int(source[1:])
    read = typed(source, width)
    form = FORMATS[target]
    columns = bits(max(width, 16), 300)
    near = [(1 << k) + d for k in range(width) for d in (-1, 0, 1)]
    near += [v for k in range(8, width - 1) for v in ((3 << k) - 1, (257 << k) + 1)]
    mask = (1 << width) - 1
    more = np.array([v & mask for v in near], columns[0].dtype)
    column = np.concatenate([columns[0], more])

    def reference(a: int) -> int:
        return _exact.encode(Fraction(read(a & mask)), form, mode)

    text = f"cvt.{mode}.{target}.{source} %d, %a;"
    instruction = Form(text, (register(source),), (register(target),))
    check_floats(instruction, reference, [column], target)


NARROWING = [
    ("f32", "f64"),
    ("f16", "f64"),
    ("bf16", "f64"),
    ("f16", "f32"),
    ("bf16", "f32"),
    ("bf16", "f16"),
    ("f16", "bf16"),
]


def between(source: str, target: str, count: int = 3000) -> np.ndarray:
    """Source values near the range, the ties and the subnormals of the target."""
    form = FORMATS[target]
    random = np.random.default_rng(5)
    values = []
    for _ in range(count):
        bits = int(random.integers(0, 2 * form.sign))
        _, value = _exact.decode(bits, form)
        _, after = _exact.decode(bits + 1 & 2 * form.sign - 1, form)
        if not isinstance(value, Fraction) or not isinstance(after, Fraction):
            continue
        middle = (value + after) / 2 if random.integers(0, 2) else value
        exact = _exact.encode(middle, FORMATS[source])
        exact += int(random.integers(-1, 2))
        values.append(exact % (2 * FORMATS[source].sign))
    dtype = np.dtype(f"u{FORMATS[source].width // 8}")
    return np.concatenate([np.array(values, dtype), floats(source)[0]])


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize(("target", "source"), NARROWING)
def test_narrowing(target: str, source: str, mode: str) -> None:
    def reference(a: int) -> int | str:
        return _exact.convert(a, FORMATS[source], FORMATS[target], mode)

    text = f"cvt.{mode}.{target}.{source} %d, %a;"
    form = Form(text, (register(source),), (register(target),))
    check_floats(form, reference, [between(source, target)], target)


@pytest.mark.parametrize(
    ("target", "source"),
    [("f32", "f16"), ("f64", "f16"), ("f32", "bf16"), ("f64", "bf16"), ("f64", "f32")],
)
def test_widening(target: str, source: str) -> None:
    def reference(a: int) -> int | str:
        return _exact.convert(a, FORMATS[source], FORMATS[target])

    text = f"cvt.{target}.{source} %d, %a;"
    form = Form(text, (register(source),), (register(target),))
    check_floats(form, reference, floats(source), target)


@pytest.mark.parametrize("mode", ROUND)
@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
def test_rounding_to_integers(kind: str, mode: str) -> None:
    def reference(a: int) -> int | str:
        sign, value = _exact.decode(a, FORMATS[kind])
        if not isinstance(value, Fraction):
            return NAN if value is None else a
        whole = Fraction(ROUND[mode](value))
        return _exact.encode(whole, FORMATS[kind], "rn", sign)

    name = register(kind)
    form = Form(f"cvt.{mode}.{kind}.{kind} %d, %a;", (name,), (name,))
    check_floats(form, reference, floats(kind), kind)


def test_flushing_and_saturating() -> None:
    (column,) = floats("f32")
    one = 127 << 23

    def saturate(a: int) -> int:
        _, value = _exact.decode(a, FORMATS["f32"])
        return 0 if value is None or value <= 0 else min(a, one)

    form = Form("cvt.sat.f32.f32 %d, %a;", ("b32",))
    check_floats(form, saturate, [column], "f32")
    form = Form("cvt.ftz.f64.f32 %d, %a;", ("b32",), ("b64",))

    def widen(a: int) -> int | str:
        return _exact.convert(flushed(a, "f32"), FORMATS["f32"], FORMATS["f64"])

    check_floats(form, widen, [column], "f64")


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("mode", ["rn", "rz"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_pairs(kind: str, mode: str, relu: str) -> None:
    a, b = between("f32", kind), np.roll(between("f32", kind), 11)
    text = f"cvt.{mode}{relu}.{kind}x2.f32 %d, %a, %b;"
    (result,) = run(Form(text, ("b32", "b32")), a, b)

    def reference(value: int) -> int:
        bits = _exact.convert(value, FORMATS["f32"], FORMATS[kind], mode)
        if isinstance(bits, str):
            return 0x7FFF
        return 0 if relu and bits & 0x8000 else bits

    np.testing.assert_array_equal(result >> 16, [reference(v) for v in a.tolist()])
    np.testing.assert_array_equal(result & 0xFFFF, [reference(v) for v in b.tolist()])


@pytest.mark.parametrize("mode", ["rna", "rn", "rz"])
def test_tf32(mode: str) -> None:
    (column,) = floats("f32")
    (result,) = run(Form(f"cvt.{mode}.tf32.f32 %d, %a;", ("b32",)), column)
    bias = {"rna": 4096, "rn": 4095, "rz": 0}[mode]
    last = column >> 13 & 1 if mode == "rn" else 0
    expected = (column.astype(np.uint64) + bias + last & 0xFFFFE000).astype(np.uint32)
    nan = column & 0x7FFFFFFF > 0x7F800000
    np.testing.assert_array_equal(result, np.where(nan, column & 0xFFFFE000, expected))


@pytest.mark.parametrize("name", ["u16", "s16", "u8", "s8"])
def test_pack(name: str) -> None:
    width = int(name[1:])
    mask = (1 << width) - 1
    columns = bits(32, columns=3)
    tail, sources = ("", ("b32",) * 2) if width == 16 else (", %c", ("b32",) * 3)

    def reference(a: int, b: int, c: int = 0) -> int:
        high, low = (clamp(typed("s32", 32)(v), *limits(name)) & mask for v in (a, b))
        return c << 2 * width | high << width | low

    kind = "b32" if tail else ""
    text = f"cvt.pack.sat.{name}.s32{'.' + kind if kind else ''} %d, %a, %b{tail};"
    check_integers(Form(text, sources), reference, columns[: len(sources)])
