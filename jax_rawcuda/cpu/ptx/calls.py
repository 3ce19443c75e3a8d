"""Calls of device functions.

Parameters and results pass through the caller's parameter memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from .instruction import Instruction, unsupported
from .operands import Arguments, Operand, Register, Symbol


@dataclass(frozen=True, slots=True)
class Call:
    """The parts of a `call` instruction.

    Attributes:
      target: The function's symbol, or the register that holds its address.
      results: Names of the parameter memory for results.
      parameters: Names of the parameter memory for arguments.
    """

    target: Symbol | Register
    results: tuple[str, ...]
    parameters: tuple[str, ...]


def parse_call(inst: Instruction) -> Call:
    """Takes a `call` instruction apart."""
    operands = list(inst.operands)
    results: tuple[str, ...] = ()
    if operands and isinstance(operands[0], Arguments):
        results = _names(operands.pop(0))
    target = operands.pop(0)
    parameters = _names(operands[0]) if operands else ()
    if not isinstance(target, Symbol | Register):
        raise unsupported(inst)
    return Call(target, results, parameters)


def _names(operand: Operand) -> tuple[str, ...]:
    """Names in `(a, b)`; () for the prototype that follows an indirect call."""
    if not isinstance(operand, Arguments):
        return ()
    return tuple(item.name for item in operand.items if isinstance(item, Symbol))
