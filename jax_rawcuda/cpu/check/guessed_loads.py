"""Plain loads whose value is only a guess, which a compare-and-swap verifies.

CUDA's guide writes `old = *p; do { assumed = old; old = atomicCAS(p, assumed, ...); }
while (assumed != old);`, where the first read may meet another thread's swap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..analysis.graph import Branch, Exit, Graph, Suspend, Terminator, terminator_uses
from ..ptx.instruction import Instruction
from ..ptx.operands import Vector, registers
from ..ptx.types import SIZES
from ..ptx.uses import uses_and_definitions
from .actions import ORDERINGS

Step = Instruction | Terminator | None
_COPIES = ("mov", "cvt")
_PACKING = ("shl", "or")  # puts the parts of a vector together
_EFFECTS = ("st", "red", "atom", "call")
_OWN_SPACES = ("local", "param", "param::func")


def guessed_loads(graph: Graph) -> frozenset[str]:
    """Returns the registers that such loads write, for one function.

    A use of the value is fine if the swap comes before it, or on every path after it. A
    branch may also decide that no swap is needed, if nothing else that others can see
    happens on one side of it only.
    """
    steps = [inst for block in graph.blocks.values() for inst in block.instructions]
    swaps = [inst for inst in steps if inst.opcode == "atom" and inst.has("cas")]
    if not swaps:
        return frozenset()
    flow = [(inst, *uses_and_definitions(inst)) for inst in steps]
    onwards = [(uses, written) for inst, uses, written in flow if inst not in swaps]
    found: set[str] = set()
    for label, block in graph.blocks.items():
        for index, inst in enumerate(block.instructions):
            if inst.opcode != "ld" or inst.has(*ORDERINGS, *_OWN_SPACES):
                continue
            value = inst.operands[0]
            parts = [*registers(value)]
            copies = _COPIES + _PACKING if isinstance(value, Vector) else _COPIES
            back = [(to, of) for copy, of, to in flow if copy.opcode in copies]
            verifying = [
                swap
                for swap in swaps
                if SIZES[swap.type] == SIZES[inst.type] * len(parts)
                and not _closure(registers(swap.operands[2]), back).isdisjoint(parts)
            ]
            if verifying:
                guess = _Guess(graph, verifying, _closure(parts, onwards))
                if guess.is_verified(label, index + 1):
                    found.update(parts)
    return frozenset(found)


def _closure(
    names: Iterable[str], edges: list[tuple[list[str], list[str]]]
) -> set[str]:
    """Returns the names with all that (from any, to all) edges lead to."""
    found = set(names)
    size = 0
    while len(found) != size:
        size = len(found)
        for sources, targets in edges:
            if not found.isdisjoint(sources):
                found.update(targets)
    return found


@dataclass(frozen=True, slots=True)
class _Guess:
    """A value, the swaps that expect it, and the registers computed from it."""

    graph: Graph
    swaps: list[Instruction]
    tainted: set[str]

    def is_verified(self, label: str, start: int) -> bool:
        return all(
            self._is_harmless(place, index, step)
            for place, index, step in self._before_swaps(label, start)
            if not self.tainted.isdisjoint(_visible_uses(step))
        )

    def _is_harmless(self, label: str, index: int, step: Step) -> bool:
        """Whether an unverified value may be used here."""
        after = [*self._before_swaps(label, index + 1)]
        if not any(isinstance(later, Exit) for _, _, later in after):
            return True
        if not isinstance(step, Branch):
            return False
        sides = [self._reached(label, side) for side in (step.then, step.otherwise)]
        one_sided = sides[0] ^ sides[1]
        return not any(
            place in one_sided and _is_visible(later) for place, _, later in after
        )

    def _reached(self, branch: str, start: str) -> set[str]:
        """Returns what can follow a side of a branch before it comes again."""
        found, queue = {branch}, [start]
        for label in queue:
            if label not in found:
                found.add(label)
                queue += self.graph.blocks[label].successors()
        return found

    def _before_swaps(self, label: str, start: int) -> Iterator[tuple[str, int, Step]]:
        """Yields what can follow a place before a swap does: block, index, step."""
        seen: set[str] = set()
        queue = [(label, start)]
        for place, first in queue:
            block = self.graph.blocks[place]
            steps: list[Step] = [*block.instructions, block.terminator]
            for index in range(first, len(steps)):
                if steps[index] in self.swaps:
                    break
                yield place, index, steps[index]
            else:
                for following in block.successors():
                    if following not in seen:
                        seen.add(following)
                        queue.append((following, 0))


def _is_visible(step: Step) -> bool:
    """Whether it may do something that other threads see."""
    if isinstance(step, Instruction):
        return step.opcode in _EFFECTS and not step.has(*_OWN_SPACES)
    return isinstance(step, Suspend)


def _visible_uses(step: Step) -> list[str]:
    """Returns the registers that decide what other threads see, or where to go on."""
    if not isinstance(step, Instruction):
        return terminator_uses(step)
    return uses_and_definitions(step)[0] if _is_visible(step) else []
