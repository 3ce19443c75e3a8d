"""What the instruction families share."""

from __future__ import annotations

from collections.abc import Callable

from ..emit.emitter import Emitter
from ..ptx.instruction import Instruction

Handler = Callable[[Emitter, Instruction], None]


def lanes(em: Emitter, value: str, count: int, width: int) -> list[str]:
    """Splits an integer of `count * width` bits into integers, lowest first."""
    whole, part = f"i{count * width}", f"i{width}"
    if count == 1:
        return [value]
    parts = []
    for index in range(count):
        bits = em.op(f"lshr {whole} {value}, {index * width}") if index else value
        parts.append(em.op(f"trunc {whole} {bits} to {part}"))
    return parts


def join(em: Emitter, parts: list[str], width: int) -> str:
    """Joins integers of `width` bits into one, lowest first."""
    if len(parts) == 1:
        return parts[0]
    whole = f"i{len(parts) * width}"
    result = ""
    for index, part in enumerate(parts):
        bits = em.op(f"zext i{width} {part} to {whole}")
        if index:
            bits = em.op(f"shl {whole} {bits}, {index * width}")
            bits = em.op(f"or {whole} {result}, {bits}")
        result = bits
    return result
