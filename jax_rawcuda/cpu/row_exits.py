"""Guards like `if (i >= n) return;`: where one thread leaves, so do those after it.

As an exit of the loop over `threadIdx.x`, such a guard lets LLVM vectorise what follows
with plain loads and stores. As a condition inside of the loop it costs masked ones, and
on AMD processors a masked store takes longer than eight scalar stores.
"""

from __future__ import annotations

from typing import NamedTuple

from .cfg import Branch, Exit, Graph, Jump
from .operands import Instruction, Operand, Register
from .recompute import is_pure
from .uniformity import DATA, IRREGULAR, Strides, stride_of, strides


class RowExit(NamedTuple):
    """A block whose branch to `target` ends the row."""

    block: str
    target: str


# Unsigned values may wrap within a row, and `i - halo < n` relies on that. A signed
# index that wraps is an error in the kernel.
_SIGNED = frozenset({"s32", "s64"})
_ORDERS = {"ge": 1, "gt": 1, "lt": -1, "le": -1}

# Predicate -> how it changes along a row: 1 at most once, from false to true; -1 the
# other way round; 0 not at all; None anyhow.
_Directions = dict[str, int | None]


def row_exit(graph: Graph, start: str) -> RowExit | None:
    """Finds the guard that opens a kernel, if it has one."""
    known = strides(graph, rows=True)
    directions: _Directions = {}
    visited: set[str] = set()
    label = start
    while label not in visited:
        visited.add(label)
        block = graph.blocks[label]
        for inst in block.instructions:
            if not is_pure(inst):  # a skipped thread would be missed
                return None
            if inst.types[-1:] == ("pred",) or inst.opcode == "setp":
                directions[_written(inst)] = _direction(inst, known, directions)
        match block.terminator:
            case Jump(target):
                label = target
            case Branch(predicate, then, otherwise):
                direction = directions.get(predicate)
                if direction == 1 and _leaves(graph, then):
                    return RowExit(label, then)
                if direction == -1 and _leaves(graph, otherwise):
                    return RowExit(label, otherwise)
                return None
            case _:
                return None
    return None


def _leaves(graph: Graph, label: str) -> bool:
    block = graph.blocks[label]
    return not block.instructions and isinstance(block.terminator, Exit)


def _written(inst: Instruction) -> str:
    target = inst.operands[0]
    return target.name if isinstance(target, Register) else ""


def _direction(
    inst: Instruction, known: Strides, directions: _Directions
) -> int | None:
    sources = inst.operands[1:]
    match inst.opcode:
        case "setp" if len(sources) == 2:
            return _comparison(inst, *(stride_of(source, known) for source in sources))
        case "and" | "or":
            a, b = (_of(source, directions) for source in sources)
            if a is None or b is None or a * b < 0:
                return None
            return a or b
        case "not":
            direction = _of(sources[0], directions)
            return None if direction is None else -direction
        case _:
            return None


def _comparison(inst: Instruction, left: int, right: int) -> int | None:
    if not left and not right:
        return 0
    order = _ORDERS.get(inst.modifiers[0])
    regular = max(left, right) < min(IRREGULAR, DATA) and min(left, right) >= 0
    if order is None or inst.type not in _SIGNED or not regular or (left and right):
        return None
    return order if left else -order


def _of(operand: Operand, directions: _Directions) -> int | None:
    return directions.get(operand.name) if isinstance(operand, Register) else None
