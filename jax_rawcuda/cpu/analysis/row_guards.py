"""Guards like `if (i >= n) return;`: where one thread leaves, so do those after it.

As an exit of the loop over `threadIdx.x`, such a guard lets LLVM vectorise what follows
with plain loads and stores. As a condition inside of the loop it costs masked ones, and
on AMD processors a masked store takes longer than eight scalar stores.

That the later threads of a row leave too is true only if what is compared rises along
the row. PTX does not say whether `i` may wrap around, so the code that is written tests
it for every row, at its first and last thread: see `Rise`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ptx.instruction import Instruction
from ..ptx.operands import Operand, Register, registers
from ..ptx.uses import is_pure, uses_and_definitions
from .graph import Branch, Exit, Graph, Jump
from .uniformity import DATA, IRREGULAR, Strides, stride_of, strides


@dataclass(frozen=True, slots=True)
class Rise:
    """A value that a guard compares, and that must not wrap around within the row.

    Attributes:
      operand: The value, where `comparison` reads it.
      stride: By how much it rises from thread to thread.
    """

    comparison: Instruction
    operand: Operand
    stride: int


@dataclass(frozen=True, slots=True)
class RowGuard:
    """A block whose branch to `target` ends the row, if no rise wraps around in it.

    Attributes:
      instructions: What computes the rises, without side effects.
    """

    block: str
    target: str
    rises: tuple[Rise, ...]
    instructions: tuple[Instruction, ...]


_SIGNED = frozenset({"s32", "s64"})  # unsigned values wrap at 0: `i - halo < n`
_ORDERS = {"ge": 1, "gt": 1, "lt": -1, "le": -1}

# Predicate -> how it changes along a row: 1 at most once, from false to true; -1 the
# other way round; 0 not at all; None anyhow.
_Directions = dict[str, int | None]


def row_guard(graph: Graph, start: str) -> RowGuard | None:
    """Finds the guard that opens a kernel, if it has one."""
    known = strides(graph, rows=True, rising=True)
    directions: _Directions = {}
    head: list[Instruction] = []
    rises: list[Rise] = []
    visited: set[str] = set()
    label = start
    while label not in visited:
        visited.add(label)
        block = graph.blocks[label]
        for inst in block.instructions:
            if not is_pure(inst):  # a skipped thread would be missed
                return None
            head.append(inst)
            if inst.types[-1:] == ("pred",) or inst.opcode == "setp":
                direction = directions[_written(inst)] = _direction(
                    inst, known, directions
                )
                if direction and inst.opcode == "setp":
                    rises.append(_rise(inst, known))
        match block.terminator:
            case Jump(target):
                label = target
            case Branch(predicate, then, otherwise):
                direction = directions.get(predicate)
                side = {1: then, -1: otherwise}.get(direction or 0)
                if side is None or not _leaves(graph, side):
                    return None
                return RowGuard(label, side, tuple(rises), _needed(head, rises))
            case _:
                return None
    return None


def _rise(inst: Instruction, known: Strides) -> Rise:
    operand = max(inst.operands[1:3], key=lambda source: stride_of(source, known))
    return Rise(inst, operand, stride_of(operand, known))


def _needed(head: list[Instruction], rises: list[Rise]) -> tuple[Instruction, ...]:
    wanted = {name for rise in rises for name in registers(rise.operand)}
    found = []
    for inst in reversed(head):
        uses, written = uses_and_definitions(inst)
        if wanted.intersection(written):
            wanted.update(uses)
            found.append(inst)
        elif any(rise.comparison is inst for rise in rises):
            found.append(inst)
    return tuple(reversed(found))


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
