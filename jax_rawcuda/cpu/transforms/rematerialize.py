"""Rematerialisation: registers that are cheaper to compute again than to keep.

A register that lives across a sync point costs a store and a load for every thread, and
memory for all threads of the block. Those that depend only on parameters, the launch
and the thread index (addresses, bounds, `i`) are computed again where a region starts,
and LLVM moves what all threads share out of the region's loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from ..analysis.graph import Graph, Suspend, terminator_uses
from ..analysis.liveness import live_in
from ..ptx import special_registers
from ..ptx.instruction import Instruction
from ..ptx.operands import Memory, Register, Special, Symbol, leaves
from ..ptx.uses import is_pure, uses_and_definitions
from ..sync.points import point_registers

# Instructions: more than this per register, and memory is cheaper.
_MOST = 12


# A register's definition, after those that it needs.
_Recipes = dict[str, tuple[Instruction, ...]]


def rematerialize(graph: Graph, parameters: Collection[str]) -> None:
    """Starts each region with the instructions that make registers anew.

    Args:
      graph: A kernel with all its cuts.
      parameters: The names of its parameters.
    """
    recipes = _recipes(graph, parameters)
    resumed = {
        block.terminator.resume
        for block in graph.blocks.values()
        if isinstance(block.terminator, Suspend)
    }
    live = live_in(graph, resumed)
    # All before any is changed: the start of one region may be part of another.
    fresh: dict[str, dict[Instruction, None]] = {label: {} for label in resumed}
    for label, instructions in fresh.items():
        for name in sorted(live[label] & recipes.keys() & _read(graph, label)):
            instructions.update(dict.fromkeys(recipes[name]))
    for label, instructions in fresh.items():
        graph.blocks[label].instructions[:0] = instructions


def _read(graph: Graph, start: str) -> set[str]:
    """Returns the registers that the region which starts at a block reads."""
    names: set[str] = set()
    for label in graph.reachable(start, across=False):
        block = graph.blocks[label]
        names.update(terminator_uses(block.terminator))
        for inst in block.instructions:
            names.update(uses_and_definitions(inst)[0])
    return names


def _recipes(graph: Graph, parameters: Collection[str]) -> _Recipes:
    definitions = dict(_only_definitions(graph))
    recipes: _Recipes = {}
    changed = True
    while changed:
        changed = False
        for name, inst in definitions.items():
            if name not in recipes and _is_ready(inst, recipes, parameters):
                recipe = _recipe(inst, recipes)
                if len(recipe) <= _MOST:
                    recipes[name] = recipe
                    changed = True
    return recipes


def _only_definitions(graph: Graph) -> Iterator[tuple[str, Instruction]]:
    """Yields registers with one definition, which is pure."""
    counts: Counter[str] = Counter()
    found: list[tuple[str, Instruction]] = []
    for block in graph.blocks.values():
        for inst in block.instructions:
            written = uses_and_definitions(inst)[1]
            counts.update(written)
            if is_pure(inst) and isinstance(inst.operands[0], Register):
                found += ((name, inst) for name in written)
        if isinstance(block.terminator, Suspend):
            counts.update(point_registers(block.terminator.point)[1])
    return (item for item in found if counts[item[0]] == 1)


def _is_ready(
    inst: Instruction, recipes: _Recipes, parameters: Collection[str]
) -> bool:
    for source in inst.operands[1:]:
        for leaf in leaves(source):
            match leaf:
                case Register(name) if name not in recipes:
                    return False
                case Special(name) if special_registers.is_clock(name):
                    return False
                case Symbol(name) if isinstance(source, Memory):
                    if name not in parameters:
                        return False
    return True


def _recipe(
    inst: Instruction, recipes: Mapping[str, tuple[Instruction, ...]]
) -> tuple[Instruction, ...]:
    steps: dict[Instruction, None] = {}
    for name in uses_and_definitions(inst)[0]:
        steps.update(dict.fromkeys(recipes[name]))
    return (*steps, inst)
