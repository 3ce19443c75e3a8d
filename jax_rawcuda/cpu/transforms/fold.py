"""Constant operands of sync instructions.

NVRTC passes shuffle masks through `mov` registers and always asks for the predicate
result. A known mask and one result are what the scheduler's fast paths need.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ..ptx.instruction import Instruction, Statement
from ..ptx.operands import Integer, Operand, Pair, Register, map_leaves, registers
from ..ptx.uses import uses_and_definitions
from ..sync import table


def fold_sync_operands(statements: list[Statement]) -> list[Statement]:
    """Puts constants into sync instructions; drops second results nobody reads."""
    constants: dict[str, Integer] = {}
    written: Counter[str] = Counter()
    read: Counter[str] = Counter()
    for inst in statements:
        if not isinstance(inst, Instruction):
            continue
        uses, definitions = uses_and_definitions(inst)
        written.update(definitions)
        read.update(uses)
        match inst:
            case Instruction("mov", _, (Register(name), Integer() as value), None):
                constants[name] = value

    def known(operand: Operand) -> Operand:
        if isinstance(operand, Register) and written[operand.name] == 1:
            return constants.get(operand.name, operand)
        return operand

    def fold(inst: Statement) -> Statement:
        if not isinstance(inst, Instruction) or not table.is_sync(inst):
            return inst
        operands = list(inst.operands)
        if operands and isinstance(operands[0], Pair):
            second = operands[0].second
            if inst.opcode == "shfl" and not any(read[r] for r in registers(second)):
                operands[0] = operands[0].first
        return replace(inst, operands=tuple(map_leaves(o, known) for o in operands))

    # A destination is written, so it has no constant unless a `mov` is its only write.
    return [fold(inst) for inst in statements]
