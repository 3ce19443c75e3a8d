"""What the instruction families share."""

from __future__ import annotations

from collections.abc import Callable

from ..emitter import Emitter
from ..operands import TYPE_NAMES, Instruction, Register

Handler = Callable[[Emitter, Instruction], None]

# The condition-code register of add.cc and its kin: an i1 like a predicate.
CARRY = Register("CC")


def require(em: Emitter, inst: Instruction, *words: str) -> None:
    """Refuses an instruction with a modifier that is neither a type nor listed.

    Args:
      em: The emitter that makes the error.
      inst: The instruction.
      *words: The modifiers that the handler understands or may ignore.
    """
    for word in inst.modifiers:
        if word not in words and word not in TYPE_NAMES:
            raise em.unsupported(inst, f".{word} is not available on the CPU")


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
