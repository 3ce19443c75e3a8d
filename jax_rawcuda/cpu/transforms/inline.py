"""Inlining: device functions that synchronise or exit become part of their callers.

A kernel is cut at its sync points, and a call of an LLVM function cannot be cut. What
else is called stays a function: LLVM decides whether to inline it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..._base.demangle import demangle
from ..._base.errors import UnsupportedError
from ..ptx.calls import parse_call
from ..ptx.instruction import Instruction, Label, Statement
from ..ptx.module import Function, Module
from ..ptx.operands import Operand, Register, Symbol, map_leaves
from ..ptx.variable import Variable


@dataclass
class Flat:
    """A kernel in which no call synchronises or exits.

    Attributes:
      statements: Instructions and labels.
      registers: Name -> PTX type, also of the inlined functions.
      variables: Local and call-parameter variables by name.
      framed: Variables that must survive a sync point.
      targets: Branch tables.
    """

    statements: list[Statement] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    framed: set[str] = field(default_factory=set)
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)


def flatten(module: Module, kernel: Function, inlined: set[str]) -> Flat:
    """Inlines the functions named in `inlined` into a kernel."""
    body = kernel.body
    flat = Flat(
        registers=dict(body.registers),
        variables={v.name: v for v in body.variables if v.space != "shared"},
        targets=dict(body.targets),
    )
    flat.framed = {v.name for v in flat.variables.values() if v.space == "local"}
    _Inliner(module, inlined, flat).copy(kernel)
    return flat


class _Inliner:
    def __init__(self, module: Module, inlined: set[str], flat: Flat) -> None:
        self._module = module
        self._inlined = inlined
        self._flat = flat
        self._count = 0
        # Functions that are being copied, and what is left of each.
        self._stack: dict[str, Iterator[Statement]] = {}

    def copy(self, kernel: Function) -> None:
        self._stack[kernel.name] = iter(kernel.body.statements)
        while self._stack:
            for statement in next(reversed(self._stack.values())):
                if (call := self._inlined_call(statement)) is not None:
                    self._expand(*call)
                    break
                self._flat.statements.append(statement)
            else:
                self._stack.popitem()

    def _inlined_call(self, statement: Statement) -> tuple[Instruction, str] | None:
        if not isinstance(statement, Instruction) or statement.opcode != "call":
            return None
        target = parse_call(statement).target
        if not isinstance(target, Symbol) or target.name not in self._inlined:
            return None
        return statement, target.name

    def _expand(self, inst: Instruction, name: str) -> None:
        if name in self._stack:
            raise UnsupportedError(
                f"instruction {inst}: a recursive device function ({demangle(name)}) "
                "with a barrier or warp operation inside is not available on the CPU; "
                "write it as a loop"
            )
        flat, function = self._flat, self._module.functions[name]
        self._count += 1
        suffix = f"~{self._count}"
        call = parse_call(inst)
        names = dict(
            zip(
                (v.name for v in (*function.results, *function.parameters)),
                (*call.results, *call.parameters),
                strict=True,
            )
        )
        flat.framed |= {*call.results, *call.parameters}
        body = function.body
        for variable in body.variables:
            if variable.space != "shared":
                names[variable.name] = variable.name + suffix
                flat.variables[variable.name + suffix] = variable
                flat.framed.add(variable.name + suffix)
        for register, kind in body.registers.items():
            flat.registers[register + suffix] = kind
        for table, labels in body.targets.items():
            flat.targets[table + suffix] = tuple(label + suffix for label in labels)
        end = f".return{suffix}"
        renamed: list[Statement] = [
            _rename(statement, suffix, names, end) for statement in body.statements
        ]
        if inst.predicate is not None:
            skip = replace(
                inst, opcode="bra", operands=(Symbol(end),), negated=not inst.negated
            )
            flat.statements.append(skip)
        self._stack[name] = iter([*renamed, Label(end)])


def _rename(
    statement: Statement, suffix: str, names: Mapping[str, str], end: str
) -> Statement:
    if isinstance(statement, Label):
        return Label(statement.name + suffix)
    inst = statement
    guard = inst.predicate + suffix if inst.predicate else None
    if inst.opcode == "ret":
        return replace(
            inst, opcode="bra", modifiers=(), operands=(Symbol(end),), predicate=guard
        )

    def rename(operand: Operand) -> Operand:
        if isinstance(operand, Register):
            return Register(operand.name + suffix)
        if isinstance(operand, Symbol):
            if inst.opcode in ("bra", "brx"):
                return Symbol(operand.name + suffix)
            return Symbol(names.get(operand.name, operand.name), operand.offset)
        return operand

    operands = tuple(map_leaves(operand, rename) for operand in inst.operands)
    return replace(inst, operands=operands, predicate=guard)
