"""The bits of NaN: f32 arithmetic has one on the device, and many on a host.

Arithmetic and comparisons cannot tell one NaN from another, so a result is made
canonical only where its bits leave arithmetic: at stores, shuffles, logic and calls.
Values that were only loaded, moved or selected keep their bits, as on the device; a
register that may hold either kind counts as a result.
"""

from __future__ import annotations

from dataclasses import replace

from .body import Body
from .cfg import uses_and_definitions
from .inline import map_leaves
from .operands import Instruction, Operand, Register, Statement

_ARITHMETIC = frozenset(
    {
        *("add", "sub", "mul", "fma", "mad", "div", "sqrt", "rcp", "rsqrt", "neg"),
        *("abs", "ex2", "lg2", "sin", "cos", "tanh"),
    }
)
_CHOICES = frozenset({"min", "max", "setp", "set", "testp"})
_COPIES = frozenset({"mov", "selp"})


def make_nans_canonical(body: Body) -> None:
    """Puts `canonical.f32` before the instructions that could tell NaNs apart.

    Args:
      body: Of a function. Its statements are replaced, its registers extended.
    """
    instructions = [s for s in body.statements if isinstance(s, Instruction)]
    results = _results(instructions)
    if not results:
        return
    statements: list[Statement] = []
    for statement in body.statements:
        if isinstance(statement, Instruction) and not _hides_payload(statement):
            read = sorted(results.intersection(uses_and_definitions(statement)[0]))
            statements += [_canonical(statement, name) for name in read]
            body.registers.update({_fresh(name): "f32" for name in read})
            statements.append(_reading_canonical(statement, set(read)))
        else:
            statements.append(statement)
    body.statements = statements


def _results(instructions: list[Instruction]) -> set[str]:
    """Returns the registers with results of arithmetic, also by way of copies."""
    found = {
        name
        for inst in instructions
        if _computes(inst)
        for name in uses_and_definitions(inst)[1]
    }
    copies = [uses_and_definitions(inst) for inst in instructions if _copies(inst)]
    size = -1
    while size != len(found):
        size = len(found)
        for read, written in copies:
            if found.intersection(read):
                found.update(written)
    return found


def _computes(inst: Instruction) -> bool:
    if inst.opcode == "cvt":
        return inst.types in (("f32", "f32"), ("f32", "f16"))
    return inst.opcode in _ARITHMETIC and inst.types == ("f32",)


def _copies(inst: Instruction) -> bool:
    return inst.opcode in _COPIES and isinstance(inst.operands[0], Register)


def _hides_payload(inst: Instruction) -> bool:
    """Whether an instruction gives the same for all NaNs, or copies one as it is."""
    if _copies(inst):
        return True
    if inst.types[-1:] != ("f32",):
        return False
    if inst.opcode == "cvt":
        return inst.types[0] not in ("f64", "tf32")
    return inst.opcode in _ARITHMETIC | _CHOICES and not inst.has("xorsign")


def _fresh(name: str) -> str:
    return f"{name}@nan"


def _canonical(inst: Instruction, name: str) -> Instruction:
    return replace(
        inst,
        opcode="canonical",
        modifiers=("f32",),
        operands=(Register(_fresh(name)), Register(name)),
        predicate=None,
        negated=False,
    )


def _reading_canonical(inst: Instruction, names: set[str]) -> Instruction:
    def change(operand: Operand) -> Operand:
        if isinstance(operand, Register) and operand.name in names:
            return Register(_fresh(operand.name))
        return operand

    # A destination may be the same register.
    count = 1 if uses_and_definitions(inst)[1] else 0
    sources = tuple(map_leaves(operand, change) for operand in inst.operands[count:])
    return replace(inst, operands=(*inst.operands[:count], *sources))
