"""Integer, bit and comparison instructions against Python's integers, on all bits."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from support.ptx_checks import INTEGER_TYPES, check_integers, typed
from support.ptx_runner import Form, bits

pytest.importorskip("llvmlite")


def divide(a: int, b: int) -> int:
    if b == 0:
        return -1
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def remainder(a: int, b: int) -> int:
    return a if b == 0 else a - b * divide(a, b)


BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul.lo": lambda a, b: a * b,
    "div": divide,
    "rem": remainder,
    "min": min,
    "max": max,
}


@pytest.mark.parametrize("name", INTEGER_TYPES)
@pytest.mark.parametrize("op", BINARY)
def test_binary(op: str, name: str) -> None:
    width = int(name[1:])
    read = typed(name, width)
    kind = f"b{width}"
    form = Form(f"{op}.{name} %d, %a, %b;", (kind, kind), (kind,))
    check_integers(
        form, lambda a, b: BINARY[op](read(a), read(b)), bits(width, columns=2)
    )


@pytest.mark.parametrize("name", INTEGER_TYPES)
@pytest.mark.parametrize("part", ["lo", "hi", "wide"])
@pytest.mark.parametrize("op", ["mul", "mad"])
def test_products(op: str, part: str, name: str) -> None:
    width = int(name[1:])
    if part == "wide" and width == 64:
        pytest.skip("no 128-bit results")
    read = typed(name, width)
    kind, result = f"b{width}", f"b{2 * width if part == 'wide' else width}"
    sources = (kind, kind, result) if op == "mad" else (kind, kind)
    tail = ", %c" if op == "mad" else ""
    form = Form(f"{op}.{part}.{name} %d, %a, %b{tail};", sources, (result,))
    shift = width if part == "hi" else 0
    columns = bits(width, columns=2)
    if op == "mad":
        columns.append(bits(int(result[1:]), len(columns[0]))[0][-len(columns[0]) :])
    check_integers(form, lambda a, b, c=0: (read(a) * read(b) >> shift) + c, columns)


def reverse(a: int, width: int) -> int:
    return int(f"{a:0{width}b}"[::-1], 2)


WIDTHS = (32, 64)
UNARY = {
    **{f"neg.s{w}": int.__neg__ for w in (16, 32, 64)},
    **{f"abs.s{w}": abs for w in (16, 32, 64)},
    **{f"not.b{w}": int.__invert__ for w in (16, 32, 64)},
    **{f"cnot.b{w}": lambda a: int(a == 0) for w in (16, 32, 64)},
    **{f"brev.b{w}": functools.partial(reverse, width=w) for w in WIDTHS},
}
COUNTS = {
    **{f"popc.b{w}": int.bit_count for w in WIDTHS},
    **{f"clz.b{w}": lambda a, w=w: w - a.bit_length() for w in WIDTHS},
    **{f"bfind.u{w}": lambda a: a.bit_length() - 1 for w in WIDTHS},
    **{f"bfind.s{w}": lambda a: (a if a >= 0 else ~a).bit_length() - 1 for w in WIDTHS},
    "bfind.shiftamt.u32": lambda a: 32 - a.bit_length() if a else -1,
}


@pytest.mark.parametrize("op", [*UNARY, *COUNTS])
def test_unary(op: str) -> None:
    name, reference = op.rpartition(".")[2], (UNARY | COUNTS)[op]
    width = int(name[1:])
    read = typed(name, width)
    result = "b32" if op in COUNTS else f"b{width}"
    form = Form(f"{op} %d, %a;", (f"b{width}",), (result,))
    check_integers(form, lambda a: reference(read(a)), bits(width))


def shift_left(a: int, n: int, width: int) -> int:
    return a << n if n < width else 0


def shift_right(a: int, n: int, width: int) -> int:
    return a >> min(n, width)


SHIFTS = {
    **{f"shl.b{w}": (f"u{w}", shift_left) for w in (16, 32, 64)},
    **{f"shr.{s}{w}": (f"{s}{w}", shift_right) for s in "us" for w in (16, 32, 64)},
}


@pytest.mark.parametrize("op", SHIFTS)
def test_shift(op: str) -> None:
    name, reference = SHIFTS[op]
    width = int(name[1:])
    read = typed(name, width)
    values, amounts = bits(width, columns=2)
    small = np.resize(np.arange(70), len(amounts)).astype(np.uint32)
    amounts = amounts.astype(np.uint32)
    amounts = np.where(np.arange(len(amounts)) % 2, small, amounts)
    form = Form(f"{op} %d, %a, %b;", (f"b{width}", "b32"), (f"b{width}",))
    check_integers(form, lambda a, n: reference(read(a), n, width), [values, amounts])


def funnel(mode: str, a: int, b: int, c: int) -> int:
    n = min(c, 32) if "clamp" in mode else c & 31
    whole = b << 32 | a
    return (whole << n) >> 32 if ".l." in mode else whole >> n


@pytest.mark.parametrize("mode", ["l.wrap", "l.clamp", "r.wrap", "r.clamp"])
def test_funnel_shift(mode: str) -> None:
    op = f"shf.{mode}.b32"
    form = Form(f"{op} %d, %a, %b, %c;", ("b32",) * 3)
    check_integers(form, lambda a, b, c: funnel(op, a, b, c), bits(32, columns=3))


@pytest.mark.parametrize("table", [0x00, 0x80, 0xFE, 0x96, 0xE8, 0xCA, 0x6A, 0xFF])
def test_lop3(table: int) -> None:
    def reference(a: int, b: int, c: int) -> int:
        rows = (i for i in range(8) if table >> i & 1)
        total = 0
        for row in rows:
            x, y, z = (v if row >> (2 - i) & 1 else ~v for i, v in enumerate((a, b, c)))
            total |= x & y & z
        return total

    form = Form(f"lop3.b32 %d, %a, %b, %c, {table:#x};", ("b32",) * 3)
    check_integers(form, reference, bits(32, columns=3))


@pytest.mark.parametrize("op", ["and", "or", "xor"])
@pytest.mark.parametrize("kind", ["pred", "b16", "b32", "b64"])
def test_logic(op: str, kind: str) -> None:
    form = Form(f"{op}.{kind} %d, %a, %b;", (kind, kind), (kind,))
    python = {"and": int.__and__, "or": int.__or__, "xor": int.__xor__}[op]
    if kind == "pred":
        check_integers(
            form, python, [np.array(c) for c in ([0, 0, 1, 1], [0, 1, 0, 1])]
        )
    else:
        check_integers(form, python, bits(int(kind[1:]), columns=2))
