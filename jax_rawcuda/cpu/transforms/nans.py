"""The bits of NaN: f32 arithmetic has one on the device, and many on a host.

Arithmetic and comparisons cannot tell one NaN from another, so a result is made
canonical only where its bits leave arithmetic: at stores, shuffles, logic and calls.
Values that were only loaded, moved or selected keep their bits, as on the device: they
may be integers. A register that holds now the one and now the other has a predicate
beside it that says which. A change of sign counts as a copy, since clang writes `neg`
and `abs` for `bits ^ 0x80000000` and `bits & 0x7fffffff` too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..ptx.body import Body
from ..ptx.instruction import Instruction, Statement
from ..ptx.operands import Float, Integer, Operand, Register, map_leaves
from ..ptx.uses import uses_and_definitions

_ARITHMETIC = frozenset(
    {
        *("add", "sub", "mul", "fma", "mad", "div", "sqrt", "rcp", "rsqrt", "ex2"),
        *("lg2", "sin", "cos", "tanh"),
    }
)
_CHOICES = frozenset({"min", "max", "setp", "set", "testp"})
# Opcode -> what it copies.
_COPIES = {name: slice(1, 2) for name in ("mov", "neg", "abs")} | {"selp": slice(1, 3)}
_WORDS = {"b32", "u32", "s32", "f32"}
_INFINITY = 0x7F800000


def make_nans_canonical(body: Body) -> None:
    """Puts `canonical.f32` before the instructions that could tell NaNs apart.

    Args:
      body: Of a function. Its statements are replaced, its registers extended.
    """
    results = _Results([s for s in body.statements if isinstance(s, Instruction)])
    if not results.names:
        return
    statements: list[Statement] = []
    for statement in body.statements:
        if not isinstance(statement, Instruction):
            statements.append(statement)
            continue
        used, written = uses_and_definitions(statement)
        read = set() if _hides_payload(statement) else results.names.intersection(used)
        body.registers.update({_fresh(name): "f32" for name in read})
        statements += [_canonical(statement, name, results) for name in sorted(read)]
        statements.append(_reading_canonical(statement, read))
        mixed = sorted(results.mixed.intersection(written))
        body.registers.update({_flag(name): "pred" for name in mixed})
        statements += [_marked(statement, name, results) for name in mixed]
    body.statements = statements


class _Results:
    """The registers that results of f32 arithmetic get to.

    Attributes:
      names: All of them.
      mixed: Those that other values are written to as well.
    """

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        writes = [
            (name, inst)
            for inst in instructions
            for name in uses_and_definitions(inst)[1]
        ]
        self.names = {name for name, inst in writes if _computes(inst)}
        copies = [(name, inst) for name, inst in writes if _copies(inst)]
        while more := {
            name
            for name, inst in copies
            if name not in self.names and self.names.intersection(_copied(inst))
        }:
            self.names |= more
        self.mixed: set[str] = set()
        others = [w for w in writes if w[0] in self.names and not _computes(w[1])]
        while more := {
            name
            for name, inst in others
            if name not in self.mixed and not self._keeps(inst)
        }:
            self.mixed |= more

    def _keeps(self, inst: Instruction) -> bool:
        """Whether it writes nothing but results, or numbers, which are canonical."""
        if not _copies(inst):
            return False
        return all(
            _is_number(source) or self.holds(source) == Integer(1)
            for source in inst.operands[_COPIES[inst.opcode]]
        )

    def holds(self, operand: Operand) -> Operand:
        """Returns a predicate: whether the operand is a result."""
        if not isinstance(operand, Register) or operand.name not in self.names:
            return Integer(0)
        return (
            Register(_flag(operand.name)) if operand.name in self.mixed else Integer(1)
        )


def _copied(inst: Instruction) -> Iterator[str]:
    for source in inst.operands[_COPIES[inst.opcode]]:
        if isinstance(source, Register):
            yield source.name


def _is_number(operand: Operand) -> bool:
    match operand:
        case Float(bits, 32) | Integer(bits):
            return bits & 0x7FFFFFFF <= _INFINITY
        case _:
            return False


def _computes(inst: Instruction) -> bool:
    if inst.opcode == "cvt":
        return inst.types in (("f32", "f32"), ("f32", "f16"))
    return inst.opcode in _ARITHMETIC and inst.types == ("f32",)


def _copies(inst: Instruction) -> bool:
    words = {"f32"} if inst.opcode in ("neg", "abs") else _WORDS
    if inst.opcode not in _COPIES or not words.issuperset(inst.types):
        return False
    return isinstance(inst.operands[0], Register)


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


def _flag(name: str) -> str:
    return f"{name}@result"


def _canonical(inst: Instruction, name: str, results: _Results) -> Instruction:
    register = Register(name)
    return replace(
        inst,
        opcode="canonical",
        modifiers=("f32",),
        operands=(Register(_fresh(name)), register, results.holds(register)),
        predicate=None,
        negated=False,
    )


def _marked(inst: Instruction, name: str, results: _Results) -> Instruction:
    """Returns what sets the predicate beside a register that `inst` writes."""
    sources: list[Operand] = [Integer(int(_computes(inst)))]
    if _copies(inst):
        sources = [results.holds(s) for s in inst.operands[_COPIES[inst.opcode]]]
    chooses = len(sources) > 1
    return replace(
        inst,
        opcode="selp" if chooses else "mov",
        modifiers=("pred",),
        operands=(Register(_flag(name)), *sources, *inst.operands[3:] * chooses),
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
