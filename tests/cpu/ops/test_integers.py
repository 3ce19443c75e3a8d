"""Carry chains, dot products and other integer instructions with more operands."""

from __future__ import annotations

import numpy as np
import pytest
from support.ptx_checks import INTEGER_TYPES, check_integers, clamp, signed, typed
from support.ptx_runner import Form, bits, run

pytest.importorskip("llvmlite")


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("op", ["add", "sub"])
def test_carry_chain(op, width):
    """Two words are added or subtracted as one number of twice the width."""
    kind = f"b{width}"
    text = f"{op}.cc.u{width} %d, %a, %c; {op}c.u{width} %q, %b, %e;"
    a, b = bits(width, columns=2)
    c, e = np.roll(a, 5), np.roll(b, 11)
    low, high = run(Form(text, (kind,) * 4, (kind, kind)), a, b, c, e)
    mask = (1 << 2 * width) - 1
    rows = zip(*(column.tolist() for column in (a, b, c, e, low, high)), strict=True)
    for x0, x1, y0, y1, z0, z1 in rows:
        x, y = x1 << width | x0, y1 << width | y0
        total = x + y if op == "add" else x - y
        assert total & mask == z1 << width | z0


def test_multiply_with_carry():
    """64 x 32 bits plus 96 bits, as compilers write long multiplication."""
    text = """
    mad.lo.cc.u32 %d, %a, %b, %c; madc.hi.cc.u32 %q, %a, %b, %c; addc.u32 %q, %q, 0;
    """
    columns = bits(32, columns=3)
    low, high = run(Form(text, ("b32",) * 3, ("b32", "b32")), *columns)
    rows = zip(*(c.tolist() for c in (*columns, low, high)), strict=True)
    for a, b, c, d, q in rows:
        total = a * b + (c << 32 | c)
        assert d == total & 0xFFFFFFFF
        assert q == (total >> 32) + (total >> 64) & 0xFFFFFFFF


@pytest.mark.parametrize("op", ["add", "sub"])
def test_saturating(op):
    def reference(a, b):
        x, y = signed(a, 32), signed(b, 32)
        return clamp(x + y if op == "add" else x - y, -(1 << 31), (1 << 31) - 1)

    form = Form(f"{op}.sat.s32 %d, %a, %b;", ("b32", "b32"))
    check_integers(form, reference, bits(32, columns=2))


@pytest.mark.parametrize("name", INTEGER_TYPES)
def test_sad(name):
    width = int(name[1:])
    read, kind = typed(name, width), f"b{width}"
    form = Form(f"sad.{name} %d, %a, %b, %c;", (kind,) * 3, (kind,))
    columns = bits(width, columns=3)
    check_integers(form, lambda a, b, c: abs(read(a) - read(b)) + c, columns)


@pytest.mark.parametrize("sign", ["u", "s"])
@pytest.mark.parametrize("part", ["lo", "hi"])
@pytest.mark.parametrize("op", ["mul24", "mad24"])
def test_24_bits(op, part, sign):
    def read(value):
        value &= 0xFFFFFF
        return signed(value, 24) if sign == "s" else value

    def reference(a, b, c=0):
        return (read(a) * read(b) >> (16 if part == "hi" else 0)) + c

    count = 3 if op == "mad24" else 2
    tail = ", %c" if op == "mad24" else ""
    form = Form(f"{op}.{part}.{sign}32 %d, %a, %b{tail};", ("b32",) * count)
    check_integers(form, reference, bits(32, columns=count))


def _parts(word, width, sign):
    return [
        typed(sign, width)(word >> i & (1 << width) - 1) for i in range(0, 32, width)
    ]


@pytest.mark.parametrize("signs", ["uu", "us", "su", "ss"])
def test_dot_products(signs):
    first, second = signs
    columns = bits(32, columns=3)

    def four(a, b, c):
        pairs = zip(_parts(a, 8, first), _parts(b, 8, second), strict=True)
        return sum(x * y for x, y in pairs) + c

    form = Form(f"dp4a.{first}32.{second}32 %d, %a, %b, %c;", ("b32",) * 3)
    check_integers(form, four, columns)
    for part, start in (("lo", 0), ("hi", 2)):

        def two(a, b, c, start=start):
            chosen = _parts(b, 8, second)[start : start + 2]
            pairs = zip(_parts(a, 16, first), chosen, strict=True)
            return sum(x * y for x, y in pairs) + c

        text = f"dp2a.{part}.{first}32.{second}32 %d, %a, %b, %c;"
        check_integers(Form(text, ("b32",) * 3), two, columns)


@pytest.mark.parametrize("op", ["add", "min", "max"])
@pytest.mark.parametrize("sign", ["u", "s"])
def test_pairs_of_16_bits(op, sign):
    combine = {"add": lambda x, y: x + y, "min": min, "max": max}[op]

    def reference(a, b):
        pairs = zip(_parts(a, 16, sign), _parts(b, 16, sign), strict=True)
        low, high = (combine(x, y) & 0xFFFF for x, y in pairs)
        return high << 16 | low

    form = Form(f"{op}.{sign}16x2 %d, %a, %b;", ("b32", "b32"))
    check_integers(form, reference, bits(32, columns=2))


@pytest.mark.parametrize("offset", [0, 1, 3, -1, -2])
def test_nth_set_bit(offset):
    def reference(mask, base, _):
        if offset == 0:
            return base if mask >> base & 1 else -1
        places = range(base, 32) if offset > 0 else range(base, -1, -1)
        found = [place for place in places if mask >> place & 1]
        return found[abs(offset) - 1] if len(found) >= abs(offset) else -1

    (masks,) = bits(32)
    base = (np.arange(len(masks)) % 32).astype(np.uint32)
    offsets = np.full(len(masks), offset & 0xFFFFFFFF, np.uint32)
    form = Form("fns.b32 %d, %a, %b, %c;", ("b32",) * 3)
    check_integers(form, reference, [masks, base, offsets])
