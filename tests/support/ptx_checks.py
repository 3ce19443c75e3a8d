"""Compares what single PTX instructions give with references on Python's integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.exact import FORMATS, NAN, decode
from support.ptx_runner import Form, run

INTEGER_TYPES = ("u16", "s16", "u32", "s32", "u64", "s64")
FLOATS = ("f16", "bf16", "f32", "f64")
REGISTERS = {8: "b32", 16: "b16", 32: "b32", 64: "b64"}


def register(name: str) -> str:
    """Returns the kind of register that holds a type."""
    width = FORMATS[name].width if name in FORMATS else int(name[1:])
    return REGISTERS[width]


def signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def typed(name: str, width: int) -> Callable[[int], int]:
    """Returns the reading of bits that a type's sign asks for."""
    return (lambda v: signed(v, width)) if name[0] == "s" else (lambda v: v)


def clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def flushed(bits: int, kind: str) -> int:
    """Makes the bits of a subnormal number those of zero."""
    form = FORMATS[kind]
    return bits & form.sign if not bits & form.infinity else bits


def check_integers(
    form: Form, reference: Callable[..., int], columns: list[np.ndarray]
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


def check_floats(
    form: Form,
    reference: Callable[..., int | str],
    columns: list[np.ndarray],
    kind: str,
) -> None:
    """Compares bits; any NaN stands for every other."""
    (result,) = run(form, *columns)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    for row, bits in zip(rows, result.tolist(), strict=True):
        expected = reference(*row)
        is_nan = decode(bits, FORMATS[kind])[1] is None
        if is_nan != (expected == NAN) or (not is_nan and bits != expected):
            want = expected if expected == NAN else hex(expected)
            pytest.fail(
                f"{form.text} on {[*map(hex, row)]}: {bits:#x}, expected {want}"
            )
