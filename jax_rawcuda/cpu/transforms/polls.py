"""Polls: code that might never end looks now and then whether the launch must stop.

A kernel runs on threads of the host process. Nobody can end them from outside, neither
an interrupt of the user nor a time limit nor a fault in another block, so the code has
to ask: a poll is a load of one flag, and a branch, on the way back of a loop. It keeps
LLVM from vectorising the loop, so one that LLVM can count is left alone: it ends.
"""

from __future__ import annotations

from collections.abc import Collection

from ..analysis.graph import Branch, Graph, Poll, Spend
from ..analysis.loops import Loop, loops_between_syncs, nest, predecessors
from ..ptx.instruction import Instruction, Location
from ..ptx.operands import Integer, Register, registers
from ..ptx.uses import uses_and_definitions

# Comparisons that a counter with steps of one cannot jump over.
_BOUNDS = ("lt", "gt", "ne", "eq", "lo", "hi")
_COPIES = ("mov", "cvt")


def add_polls(graph: Graph) -> None:
    """Puts a poll on the way back of every loop that is not known to end."""
    position = {label: index for index, label in enumerate(graph.blocks)}
    places = _places(graph)
    before = predecessors(graph)
    for blocks in loops_between_syncs(graph):
        loops = nest(graph, blocks, before)
        if loops is None:  # several entries
            for label in sorted(blocks):
                successors = graph.blocks[label].successors(False)
                back = {t for t in successors if position[t] <= position[label]}
                _poll(graph, label, sorted(back & blocks), places[label])
            continue
        for loop in loops:
            inner = any(other.blocks < loop.blocks for other in loops)
            if inner or not _counted(graph, loop):
                for label in _latches(graph, loop):
                    _poll(graph, label, {loop.header}, places[label])


def _places(graph: Graph) -> dict[str, Location | None]:
    """Returns the first source line of each block, or that of what precedes it."""
    places: dict[str, Location | None] = {}
    before: Location | None = None
    for label, block in graph.blocks.items():
        located = [i.location for i in block.instructions if i.location]
        places[label] = located[0] if located else before
        before = located[-1] if located else before
    return places


def _poll(
    graph: Graph, label: str, targets: Collection[str], location: Location | None
) -> None:
    if isinstance(graph.blocks[label].terminator, Spend):  # lets the scheduler look
        return
    polls = {t: graph.add(terminator=Poll(t, location)).label for t in targets}
    graph.redirect(label, polls)


def _latches(graph: Graph, loop: Loop) -> list[str]:
    return [
        label
        for label in sorted(loop.blocks)
        if loop.header in graph.blocks[label].successors(False)
    ]


def _counted(graph: Graph, loop: Loop) -> bool:
    """Whether every turn compares a counter, which moves by one, with a fixed bound."""
    latches = _latches(graph, loop)
    if len(latches) != 1:
        return False
    places: dict[str, list[tuple[str, Instruction]]] = {}
    for label in loop.blocks:
        for inst in graph.blocks[label].instructions:
            for name in uses_and_definitions(inst)[1]:
                places.setdefault(name, []).append((label, inst))
    always = {b for b in loop.blocks if _on_every_turn(graph, loop, b, latches[0])}

    def definition(name: str) -> Instruction | None:
        """The only place that defines a register, if every turn passes it."""
        found = places.get(name, [])
        if len(found) != 1 or found[0][0] not in always:
            return None
        inst = found[0][1]
        return None if inst.predicate else inst

    def counts(name: str) -> bool:
        total, start = 0, name
        for _ in range(len(places) + 1):
            inst = definition(name)
            if inst is None or len(inst.operands) < 2:
                return False
            source = inst.operands[1]
            if inst.opcode in ("add", "sub"):
                step = inst.operands[2]
                if not isinstance(step, Integer):
                    return False
                total += step.value if inst.opcode == "add" else -step.value
            elif inst.opcode not in _COPIES:
                return False
            if not isinstance(source, Register):
                return False
            name = source.name
            if name == start:
                return abs(total) == 1
        return False

    for label in always:
        terminator = graph.blocks[label].terminator
        if not isinstance(terminator, Branch):
            continue
        if {terminator.then, terminator.otherwise} <= loop.blocks:
            continue
        test = definition(terminator.predicate)
        if test is None or test.opcode != "setp" or not test.has(*_BOUNDS):
            continue
        first, second = test.operands[1:3]
        for counter, bound in ((first, second), (second, first)):
            fixed = not any(name in places for name in registers(bound))
            if fixed and isinstance(counter, Register) and counts(counter.name):
                return True
    return False


def _on_every_turn(graph: Graph, loop: Loop, block: str, latch: str) -> bool:
    if block in (loop.header, latch):
        return True
    seen, todo = {block}, [loop.header]
    while todo:
        label = todo.pop()
        if label == latch:
            return False
        if label not in seen:
            seen.add(label)
            todo += [
                t for t in graph.blocks[label].successors(False) if t in loop.blocks
            ]
    return True
