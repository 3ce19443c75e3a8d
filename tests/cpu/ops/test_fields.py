"""Bit fields, masks and permutations against Python's integers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.ptx_checks import check_integers, signed
from support.ptx_runner import Form, bits

pytest.importorskip("llvmlite")


def extract(name: str, a: int, b: int, c: int) -> int:
    width = int(name[1:])
    # The device reads one byte of them, but all of them for 64-bit values.
    position, length = (b & 255, c & 255) if width == 32 else (b, c)
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
    check_integers(form, lambda *v: extract(name, *v), _fields(int(name[1:])))


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
    check_integers(form, reference, [a, np.roll(a, 7), c, d])


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
        check_integers(form, FIELD_OPS[op], [values, column])
        check_integers(form, FIELD_OPS[op], [column, small])


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
    check_integers(form, reference, bits(32, columns=3))
