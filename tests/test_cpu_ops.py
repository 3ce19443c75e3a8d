"""Integer, bit and comparison instructions against Python's integers, on all bits."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from _ptx_runner import Form, bits, run

pytest.importorskip("llvmlite")


def signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def check(
    form: Form,
    reference: Callable[..., int],
    columns: list[np.ndarray],
) -> None:
    """Compares a one-result form with a reference on Python integers."""
    (result,) = run(form, *columns)
    mask = np.iinfo(result.dtype).max
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    expected = np.array([reference(*row) & mask for row in rows], result.dtype)
    bad = np.flatnonzero(result != expected)
    assert not len(bad), (
        f"{form.text} on {[hex(v) for v in rows[bad[0]]]}: "
        f"{result[bad[0]]:#x}, expected {expected[bad[0]]:#x} ({len(bad)} wrong)"
    )


def typed(name: str, width: int) -> Callable[[int], int]:
    """Returns the reading of bits that a type's sign asks for."""
    return (lambda v: signed(v, width)) if name[0] == "s" else (lambda v: v)


def clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


INTEGER_TYPES = ("u16", "s16", "u32", "s32", "u64", "s64")


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
    check(form, lambda a, b: BINARY[op](read(a), read(b)), bits(width, columns=2))


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
    check(form, lambda a, b, c=0: (read(a) * read(b) >> shift) + c, columns)


UNARY = {
    **{f"neg.{t}": (t, lambda a, w: -a) for t in ("s16", "s32", "s64")},
    **{f"abs.{t}": (t, lambda a, w: abs(a)) for t in ("s16", "s32", "s64")},
    **{f"not.{t}": (t, lambda a, w: ~a) for t in ("b16", "b32", "b64")},
    **{f"cnot.{t}": (t, lambda a, w: int(a == 0)) for t in ("b16", "b32", "b64")},
    **{
        f"brev.{t}": (t, lambda a, w: int(f"{a:0{w}b}"[::-1], 2))
        for t in ("b32", "b64")
    },
}
COUNTS = {
    **{f"popc.{t}": (t, lambda a, w: a.bit_count()) for t in ("b32", "b64")},
    **{f"clz.{t}": (t, lambda a, w: w - a.bit_length()) for t in ("b32", "b64")},
    **{f"bfind.{t}": (t, lambda a, w: a.bit_length() - 1) for t in ("u32", "u64")},
    **{
        f"bfind.{t}": (t, lambda a, w: (a if a >= 0 else ~a).bit_length() - 1)
        for t in ("s32", "s64")
    },
    "bfind.shiftamt.u32": ("u32", lambda a, w: w - a.bit_length() if a else -1),
}


@pytest.mark.parametrize("op", [*UNARY, *COUNTS])
def test_unary(op: str) -> None:
    name, reference = (UNARY | COUNTS)[op]
    width = int(name[1:])
    read = typed(name, width)
    result = "b32" if op in COUNTS else f"b{width}"
    form = Form(f"{op} %d, %a;", (f"b{width}",), (result,))
    check(form, lambda a: reference(read(a), width), bits(width))


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
    check(form, lambda a, n: reference(read(a), n, width), [values, amounts])


def funnel(mode: str, a: int, b: int, c: int) -> int:
    n = min(c, 32) if "clamp" in mode else c & 31
    whole = b << 32 | a
    return (whole << n) >> 32 if ".l." in mode else whole >> n


@pytest.mark.parametrize("mode", ["l.wrap", "l.clamp", "r.wrap", "r.clamp"])
def test_funnel_shift(mode: str) -> None:
    op = f"shf.{mode}.b32"
    form = Form(f"{op} %d, %a, %b, %c;", ("b32",) * 3)
    check(form, lambda a, b, c: funnel(op, a, b, c), bits(32, columns=3))


@pytest.mark.parametrize("table", [0x00, 0x80, 0xFE, 0x96, 0xE8, 0xCA, 0x6A, 0xFF])
def test_lop3(table: int) -> None:
    def reference(a: int, b: int, c: int) -> int:
        rows = (i for i in range(8) if table >> i & 1)
        total = 0
        for row in rows:
            x, y, z = (
                v if row >> (2 - i) & 1 else ~v for i, v in enumerate((a, b, c))
            )
            total |= x & y & z
        return total

    form = Form(f"lop3.b32 %d, %a, %b, %c, {table:#x};", ("b32",) * 3)
    check(form, reference, bits(32, columns=3))


@pytest.mark.parametrize("op", ["and", "or", "xor"])
@pytest.mark.parametrize("kind", ["pred", "b16", "b32", "b64"])
def test_logic(op: str, kind: str) -> None:
    form = Form(f"{op}.{kind} %d, %a, %b;", (kind, kind), (kind,))
    python = {"and": int.__and__, "or": int.__or__, "xor": int.__xor__}[op]
    if kind == "pred":
        check(form, python, [np.array(c) for c in ([0, 0, 1, 1], [0, 1, 0, 1])])
    else:
        check(form, python, bits(int(kind[1:]), columns=2))


def extract(name: str, a: int, b: int, c: int) -> int:
    width = int(name[1:])
    position, length = b & 255, c & 255
    if length == 0:
        return 0
    top = min(position + length - 1, width - 1)
    sign = a >> top & 1 if name[0] == "s" else 0
    if position >= width:
        sign = a >> (width - 1) & 1 if name[0] == "s" else 0
    result = 0
    for i in range(width):
        inside = i < length and position + i < width
        result |= (a >> (position + i) & 1 if inside else sign) << i
    return result


@pytest.mark.parametrize("name", ["u32", "s32", "u64", "s64"])
def test_bfe(name: str) -> None:
    kind = f"b{name[1:]}"
    form = Form(f"bfe.{name} %d, %a, %b, %c;", (kind, "b32", "b32"), (kind,))
    check(form, lambda *v: extract(name, *v), _fields(int(name[1:])))


@pytest.mark.parametrize("width", [32, 64])
def test_bfi(width: int) -> None:
    def reference(a: int, b: int, c: int, d: int) -> int:
        position, length = c & 255, d & 255
        result = b
        for i in range(min(length, max(width - position, 0))):
            result &= ~(1 << (position + i))
            result |= (a >> i & 1) << (position + i)
        return result

    kind = f"b{width}"
    form = Form(
        f"bfi.b{width} %d, %a, %b, %c, %e;", (kind, kind, "b32", "b32"), (kind,)
    )
    a, c, d = _fields(width)
    check(form, reference, [a, np.roll(a, 7), c, d])


def _fields(width: int) -> list[np.ndarray]:
    amounts = [0, 1, 5, 31, 32, 33, 63, 64, 65, 255, 256, 260]
    pairs = np.array(list(itertools.product(amounts, amounts)), np.uint32)
    (values,) = bits(width, 8 * len(pairs))
    values = np.resize(values[::-1], 8 * len(pairs))
    pairs = np.tile(pairs, (8, 1))
    return [values, pairs[:, 0].copy(), pairs[:, 1].copy()]


def mask(a: int, b: int) -> int:
    return ((1 << b) - 1) << a if a < 32 else 0


def extend(a: int, n: int, sign: bool) -> int:
    if n == 0:
        return 0
    return signed(a, n) if sign and n < 32 else a & (1 << min(n, 32)) - 1


FIELD_OPS = {
    "bmsk.clamp.b32": lambda a, b: mask(a, min(b, 32)),
    "bmsk.wrap.b32": lambda a, b: mask(a & 31, b & 31),
    "szext.clamp.u32": lambda a, b: extend(a, min(b, 32), False),
    "szext.clamp.s32": lambda a, b: extend(a, min(b, 32), True),
    "szext.wrap.u32": lambda a, b: extend(a, b & 31, False),
    "szext.wrap.s32": lambda a, b: extend(a, b & 31, True),
}


@pytest.mark.parametrize("op", FIELD_OPS)
def test_masks(op: str) -> None:
    form = Form(f"{op} %d, %a, %b;", ("b32", "b32"))
    values, amounts = bits(32, columns=2)
    small = np.resize(np.arange(40), len(amounts)).astype(np.uint32)
    for column in (amounts, small):
        check(form, FIELD_OPS[op], [values, column])
        check(form, FIELD_OPS[op], [column, small])


PERMUTATIONS = {
    "": lambda c: c,
    ".f4e": lambda c: (0x3210, 0x4321, 0x5432, 0x6543)[c & 3],
    ".b4e": lambda c: (0x5670, 0x6701, 0x7012, 0x0123)[c & 3],
    ".rc8": lambda c: 0x1111 * (c & 3),
    ".ecl": lambda c: (0x3210, 0x3211, 0x3222, 0x3333)[c & 3],
    ".ecr": lambda c: (0x0000, 0x1110, 0x2210, 0x3210)[c & 3],
    ".rc16": lambda c: (0x1010, 0x3232)[c & 1],
}


@pytest.mark.parametrize("mode", PERMUTATIONS)
def test_prmt(mode: str) -> None:
    def reference(a: int, b: int, c: int) -> int:
        selector, whole, result = PERMUTATIONS[mode](c), b << 32 | a, 0
        for i in range(4):
            code = selector >> (4 * i) & 15
            byte = whole >> 8 * (code & 7) & 255
            if code & 8:
                byte = 255 if byte & 128 else 0
            result |= byte << 8 * i
        return result

    form = Form(f"prmt.b32{mode} %d, %a, %b, %c;", ("b32",) * 3)
    check(form, reference, bits(32, columns=3))
