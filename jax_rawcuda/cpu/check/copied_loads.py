"""Loads whose value is only stored again: they read nothing that anybody needs yet.

A struct is copied whole, with fields that nobody has written and nobody will use.
"""

from __future__ import annotations

from collections import Counter

from ..analysis.graph import Block, Graph, terminator_uses
from ..ptx.instruction import Instruction
from ..ptx.operands import leaves, registers
from ..ptx.uses import uses_and_definitions

_PLAIN = frozenset({"b8", "b16", "b32", "b64", "b128", "v2", "v4", "v8"})
_SPACES = frozenset({"shared", "shared::cta", "local", "global", "nc"})
LARGEST = (1 << 14) - 1  # a number has so many bits


def copied_loads(graph: Graph) -> dict[str, int]:
    """Returns register -> a number above 0 of its load, unique in its basic block.

    Load and stores are in one block, with no call between them.
    """
    uses: Counter[str] = Counter()
    for block in graph.blocks.values():
        for inst in block.instructions:
            uses.update(uses_and_definitions(inst)[0])
        uses.update(terminator_uses(block.terminator))
    found: dict[str, int] = {}
    for block in graph.blocks.values():
        found |= _in_block(block, uses)
    return found


def _in_block(block: Block, uses: Counter[str]) -> dict[str, int]:
    open_: dict[str, int] = {}
    stored: Counter[str] = Counter()
    loads: dict[int, list[str]] = {}
    for inst in block.instructions:
        defined = uses_and_definitions(inst)[1]
        for name in defined:
            open_.pop(name, None)
        if inst.opcode == "call":
            open_.clear()
        elif _is_plain(inst, "ld"):
            number = len(loads) + 1
            loads[number] = defined
            open_ |= dict.fromkeys(defined, number)
        elif _is_plain(inst, "st"):
            values = _values(inst)
            if len({open_.get(name) for name in values}) == 1:
                stored.update(name for name in values if name in open_)
    return {
        name: number
        for number, names in loads.items()
        if number <= LARGEST and all(0 < uses[name] == stored[name] for name in names)
        for name in names
    }


def _values(store: Instruction) -> list[str]:
    """Returns the registers that are stored; nothing if there is something else."""
    value = store.operands[1]
    names = [*registers(value)]
    return names if len(names) == len([*leaves(value)]) else []


def _is_plain(inst: Instruction, opcode: str) -> bool:
    words = {*inst.modifiers}
    return inst.opcode == opcode and not inst.predicate and words <= _PLAIN | _SPACES
