"""Which functions may run long, or deep."""

from __future__ import annotations

from ..ptx.calls import parse_call
from ..ptx.instruction import Instruction, Label
from ..ptx.module import Function, Module
from ..ptx.operands import Symbol

# Larger local variables of a device function count as deep calls do.
_LARGE_FRAME = 16 << 10


def may_poll(function: Function) -> bool:
    """Whether a function branches backwards."""
    seen: set[str] = set()
    for statement in function.body.statements:
        if isinstance(statement, Label):
            seen.add(statement.name)
        elif statement.opcode == "brx" or (
            statement.opcode == "bra"
            and isinstance(target := statement.operands[0], Symbol)
            and target.name in seen
        ):
            return True
    return False


def deep_functions(module: Module, names: list[str]) -> set[str]:
    """Returns the functions that may use much stack: recursive ones, large frames."""
    calls = {name: set(module.mentioned(name)) for name in names}
    pointed = set().union(*calls.values())
    for name in names:
        if calls_pointers(module.functions[name]):
            calls[name] |= pointed
    deep = {n for n in names if frame_bytes(module.functions[n]) > _LARGE_FRAME}
    for name in names:
        reached: set[str] = set()
        todo = [*calls[name]]
        while todo:
            other = todo.pop()
            if other not in reached:
                reached.add(other)
                todo += calls.get(other, ())
        if name in reached:
            deep.add(name)
    return deep


def calls_pointers(function: Function) -> bool:
    """Whether a function calls others through pointers."""
    return any(
        not isinstance(parse_call(inst).target, Symbol)
        for inst in function.body.statements
        if isinstance(inst, Instruction) and inst.opcode == "call"
    )


def frame_bytes(function: Function) -> int:
    """Returns the size of a function's local variables."""
    return sum(v.size for v in function.body.variables if v.space == "local")
