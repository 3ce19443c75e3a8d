"""Reads one operand of PTX: numbers, registers, addresses, vectors."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from ..._base.errors import UnsupportedError
from ..._base.text import split_top_level
from . import special_registers
from .operands import (
    Arguments,
    Float,
    Integer,
    Memory,
    Negative,
    Not,
    Operand,
    Pair,
    Sink,
    Special,
    Symbol,
    Tensor,
    Vector,
)

_FLOAT = re.compile(r"0[fF]([0-9a-fA-F]{8})$|0[dD]([0-9a-fA-F]{16})$")
_DECIMAL = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?$")
_INTEGER = re.compile(r"(-?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)U?$")
_OFFSET = re.compile(r"(.*?)\s*\+\s*(-?\w+)$")


def parse_integer(text: str) -> int | None:
    """Parses a PTX integer constant; None if it is something else."""
    match = _INTEGER.match(text)
    if not match:
        return None
    digits = match[2]
    base = {"x": 16, "b": 2}.get(digits[1:2].lower(), 8 if digits[0] == "0" else 10)
    value = int(digits[2:] if base in (2, 16) else digits, base)
    return -value if match[1] else value


def parse_float(text: str) -> Float | None:
    """Parses a float constant (`0f3F800000`, `1.0`); None if it is something else."""
    if _DECIMAL.match(text):
        return Float(int.from_bytes(struct.pack(">d", float(text))), 64)
    match = _FLOAT.match(text)
    if not match:
        return None
    return Float(int(match[1] or match[2], 16), 32 if match[1] else 64)


def parse_operand(text: str, resolve: Callable[[str], Operand | None]) -> Operand:
    """Parses one operand.

    Args:
      text: Such as `[%rd4+8]`.
      resolve: Maps a name that the function declares to its register or symbol.
    """
    text = text.strip()
    if (found := resolve(text)) is not None:
        return found

    def inner(part: str) -> Operand:
        return parse_operand(part, resolve)

    match text[:1]:
        case "[":
            return _parse_memory(text[1:-1].strip(), inner)
        case "{":
            return Vector(tuple(inner(part) for part in split_top_level(text[1:-1])))
        case "(":
            return Arguments(tuple(inner(part) for part in split_top_level(text[1:-1])))
        case "!":
            return Not(inner(text[1:]))
    if "|" in text:
        first, second = text.split("|")
        return Pair(inner(first), inner(second))
    if text == "_":
        return Sink()
    if (constant := parse_float(text)) is not None:
        return constant
    if (number := parse_integer(text)) is not None:
        return Integer(number)
    if special_registers.is_special(text):
        return Special(text)
    if match := _OFFSET.match(text):
        base, offset = inner(match[1]), parse_integer(match[2])
        if isinstance(base, Symbol) and offset is not None:
            return Symbol(base.name, base.offset + offset)
    if text.startswith("-"):
        return Negative(inner(text[1:]))
    return Symbol(text)


def _parse_memory(text: str, inner: Callable[[str], Operand]) -> Operand:
    if "," in text:
        return Tensor(tuple(inner(part) for part in split_top_level(text)))
    match = _OFFSET.match(text)
    if not match:
        return Memory(inner(text))
    offset = parse_integer(match[2])
    if offset is None:
        raise UnsupportedError(f"address [{text}] is not available on the CPU")
    return Memory(inner(match[1]), offset)
