"""Who calls whom, and which calls must be written out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ..ptx.calls import parse_call
from ..ptx.instruction import Instruction
from ..ptx.module import Function, Module
from ..ptx.operands import Symbol
from ..sync import table

Calls = Mapping[str, Counter[str]]


def count_calls(module: Module, names: list[str]) -> Calls:
    """Returns what each of some functions calls directly, and how often."""
    return {name: _called(module.functions[name]) for name in names}


def must_inline(module: Module, calls: Calls) -> set[str]:
    """Returns the functions that synchronise or exit, or call one that does."""
    found = set()
    for name in calls:
        trapped = False
        for statement in module.functions[name].body.statements:
            if isinstance(statement, Instruction):
                # Compilers write `trap; exit;`, and `trap` ends the thread by itself.
                exits = statement.opcode == "exit" and not trapped
                if exits or table.is_sync(statement):
                    found.add(name)
                trapped = statement.opcode == "trap"
    return callers(calls, found)


def callers(calls: Calls, marked: set[str]) -> set[str]:
    """Extends a set of functions by all that call one of them, directly or not."""
    places: dict[str, list[str]] = {}
    for name, called in calls.items():
        for callee in called:
            places.setdefault(callee, []).append(name)
    marked, todo = set(marked), list(marked)
    while todo:
        more = set(places.get(todo.pop(), ())) - marked
        marked |= more
        todo += more
    return marked


def _called(function: Function) -> Counter[str]:
    return Counter(
        call.target.name
        for inst in function.body.statements
        if isinstance(inst, Instruction) and inst.opcode == "call"
        if isinstance((call := parse_call(inst)).target, Symbol)
    )
