"""Which registers hold a value that is still needed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress

from ..ptx.uses import uses_and_definitions
from ..sync.points import point_registers
from .graph import Graph, Suspend, terminator_uses


def live_in(graph: Graph, labels: Iterable[str]) -> dict[str, frozenset[str]]:
    """Returns, for each of some blocks, the registers that are live at its start."""
    numbers: dict[str, int] = {}

    def mask(names: Iterable[str]) -> int:
        bits = 0
        for name in names:
            bits |= 1 << numbers.setdefault(name, len(numbers))
        return bits

    used: dict[str, int] = {}
    killed: dict[str, int] = {}
    for label, block in graph.blocks.items():
        use = kill = 0
        for inst in block.instructions:
            reads, writes = uses_and_definitions(inst)
            use |= mask(reads) & ~kill
            kill |= mask(writes)
        use |= mask(terminator_uses(block.terminator)) & ~kill
        if isinstance(block.terminator, Suspend):
            kill |= mask(point_registers(block.terminator.point)[1])
        used[label], killed[label] = use, kill

    live = dict(used)
    order = list(reversed(graph.blocks))
    changed = True
    while changed:
        changed = False
        for label in order:
            out = 0
            for successor in graph.blocks[label].successors():
                out |= live[successor]
            new = used[label] | out & ~killed[label]
            changed |= new != live[label]
            live[label] = new
    names = list(numbers)
    return {
        label: frozenset(compress(names, map(int, bin(live[label])[:1:-1])))
        for label in labels
    }
