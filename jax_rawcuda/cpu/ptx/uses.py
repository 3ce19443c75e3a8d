"""Which registers an instruction reads and writes."""

from __future__ import annotations

from .instruction import Instruction
from .operands import CARRY, Memory, Pair, Register, Vector, registers

_NO_RESULT = frozenset(
    {
        "st",
        "red",
        "membar",
        "fence",
        "trap",
        "prefetch",
        "prefetchu",
        "cp",
        "brkpt",
        "griddepcontrol",
        "discard",
        "applypriority",
        "setmaxnreg",
        "call",
        "wgmma",
        "tcgen05",
        "multimem",
        "pmevent",
        "sust",
        "sured",
        "bra",
        "brx",
        "ret",
        "exit",
    }
)
_MBARRIER_NO_RESULT = ("init", "inval", "expect_tx", "complete_tx")


def _has_result(inst: Instruction) -> bool:
    if inst.opcode in _NO_RESULT:
        return False
    if inst.opcode == "wmma":
        return inst.modifiers[0] != "store"
    if inst.opcode == "mbarrier":
        return not (
            inst.modifiers[0] in _MBARRIER_NO_RESULT
            or isinstance(inst.operands[0], Memory)
        )
    return True


def uses_and_definitions(inst: Instruction) -> tuple[list[str], list[str]]:
    """Returns the registers that an instruction reads and writes."""
    count = 1 if _has_result(inst) else 0
    uses = [name for operand in inst.operands[count:] for name in registers(operand)]
    defined: list[str] = []
    for operand in inst.operands[:count]:
        if isinstance(operand, (Register, Vector, Pair)):
            defined += registers(operand)
        else:
            uses += registers(operand)
    if inst.predicate is not None:
        # A guarded write keeps the old value when the guard is false.
        uses += [inst.predicate, *defined]
    if inst.opcode in ("addc", "subc", "madc"):
        uses.append(CARRY.name)
        defined.append(CARRY.name)
    elif inst.opcode in ("add", "sub", "mad") and inst.has("cc"):
        defined.append(CARRY.name)
    return uses, defined


_PURE = frozenset(
    {
        *("mov", "cvt", "cvta", "add", "sub", "mul", "mad", "shl", "shr", "and", "or"),
        *("xor", "not", "neg", "min", "max", "setp", "selp"),
    }
)


def is_pure(inst: Instruction) -> bool:
    """Whether an instruction always runs and does nothing but compute a result."""
    return (
        inst.predicate is None
        and (inst.opcode in _PURE or (inst.opcode == "ld" and inst.has("param")))
        and not inst.has("cc")
    )
