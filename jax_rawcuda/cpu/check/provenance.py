"""Which variable an address was computed from, where the code shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..ptx.instruction import Instruction, Statement
from ..ptx.operands import Operand, Register, Symbol
from ..ptx.uses import uses_and_definitions

_NONE = ""  # of a value that points into no variable, or into one of several
_COPIES = ("mov", "cvta", "cvt")


def provenance(statements: Iterable[Statement]) -> dict[str, str]:
    """Returns register -> the one symbol that it was computed from, for one function.

    What is added to a pointer, or subtracted from it, leaves its origin alone.
    """
    definitions = [
        (inst, name)
        for inst in statements
        if isinstance(inst, Instruction)
        for name in uses_and_definitions(inst)[1]
    ]
    # A register that is missing has not been computed yet, as at the start of a loop.
    found: dict[str, str] = {}
    before: dict[str, str] | None = None
    while found != before:
        before = dict(found)
        for inst, name in definitions:
            origin = _result(inst, found)
            if origin is not None and found.setdefault(name, origin) != origin:
                found[name] = _NONE
    return {name: origin for name, origin in found.items() if origin != _NONE}


def _result(inst: Instruction, found: Mapping[str, str]) -> str | None:
    def of(operand: Operand) -> str | None:
        match operand:
            case Register(name):
                return found.get(name)
            case Symbol(name):
                return name
            case _:
                return _NONE

    destination, *sources = inst.operands
    if not isinstance(destination, Register):
        return _NONE
    known = [of(operand) for operand in sources]
    if inst.opcode in _COPIES:
        return known[0]
    if inst.opcode not in ("add", "sub", "mad"):
        return _NONE
    if None in known:
        return None
    pointers = [origin for origin in known if origin]
    # A pointer is the first operand of a difference, and what a product is added to.
    place = {"add": known[0] or known[1], "sub": known[0], "mad": known[-1]}
    return place[inst.opcode] if len(pointers) == 1 else _NONE
