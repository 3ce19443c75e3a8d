"""The control-flow graph of one function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ..ptx.instruction import Instruction, Label, Location, Statement
from ..ptx.operands import Operand, Symbol, registers
from ..sync.points import SyncPoint, point_registers
from ..sync.table import is_sync, sync_point

ENTRY = ".entry"
# LLVM takes a time for some instructions that grows with their block.
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Jump:
    """Goes to `target`."""

    target: str


@dataclass(frozen=True, slots=True)
class Branch:
    """Goes to `then` if the predicate register is true."""

    predicate: str
    then: str
    otherwise: str


@dataclass(frozen=True, slots=True)
class Switch:
    """Goes to the target with the operand's number."""

    operand: Operand
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spend:
    """Counts one spin: goes to `broke` when the block's budget is used up."""

    broke: str
    target: str


@dataclass(frozen=True, slots=True)
class Poll:
    """Goes to `target` unless the launch must stop; `location` is for messages."""

    target: str
    location: Location | None


@dataclass(frozen=True, slots=True)
class Exit:
    """Ends the thread, or returns from the device function."""


@dataclass(frozen=True, slots=True)
class Suspend:
    """Stops at a sync point; the thread resumes at `resume`."""

    point: SyncPoint
    instruction: Instruction
    resume: str


Terminator = Jump | Branch | Switch | Spend | Poll | Exit | Suspend


@dataclass
class Block:
    """A basic block."""

    label: str
    instructions: list[Instruction] = field(default_factory=list)
    terminator: Terminator | None = None

    def successors(self, across: bool = True) -> tuple[str, ...]:
        """Returns the labels that may follow.

        Args:
          across: Whether to follow sync points.
        """
        match self.terminator:
            case Jump(target) | Poll(target):
                return (target,)
            case Branch(_, then, otherwise):
                return (then, otherwise)
            case Switch(_, targets):
                return targets
            case Spend(broke, target):
                return (broke, target)
            case Suspend(resume=resume):
                return (resume,) if across else ()
            case _:
                return ()


class Graph:
    """The blocks of a function, entry first, in the order of the text."""

    def __init__(self) -> None:
        self.blocks: dict[str, Block] = {}
        self._count = 0

    def add(self, label: str = "", terminator: Terminator | None = None) -> Block:
        """Adds a block, under a fresh label unless one is given."""
        block = Block(label or self.fresh(), terminator=terminator)
        self.blocks[block.label] = block
        return block

    def fresh(self, stem: str = "b") -> str:
        """Returns a label that no block has."""
        self._count += 1
        return f".{stem}{self._count}"

    def reachable(self, start: str, across: bool = True) -> list[str]:
        """Returns the labels reachable from `start`, nearest first."""
        found = {start: None}
        queue = [start]
        for label in queue:
            for successor in self.blocks[label].successors(across):
                if successor not in found:
                    found[successor] = None
                    queue.append(successor)
        return list(found)

    def redirect(self, label: str, mapping: Mapping[str, str]) -> None:
        """Renames the targets of a block's terminator, except of a sync point."""
        block = self.blocks[label]

        def new(target: str) -> str:
            return mapping.get(target, target)

        match block.terminator:
            case Jump(target):
                block.terminator = Jump(new(target))
            case Branch(predicate, then, otherwise):
                block.terminator = Branch(predicate, new(then), new(otherwise))
            case Switch(operand, targets):
                block.terminator = Switch(operand, tuple(new(t) for t in targets))


def build(
    statements: Iterable[Statement], targets: Mapping[str, tuple[str, ...]]
) -> Graph:
    """Splits statements into basic blocks; drops what cannot be reached.

    Args:
      statements: Instructions and labels.
      targets: The branch tables of `brx.idx`.
    """
    graph = Graph()
    block = graph.add(ENTRY)

    def guarded(inst: Instruction, action: Terminator) -> Block:
        """Ends the block with `action`, under the instruction's predicate."""
        if inst.predicate is None:
            block.terminator = action
            return block
        then = action.target if isinstance(action, Jump) else graph.fresh()
        otherwise = graph.fresh()
        order = (otherwise, then) if inst.negated else (then, otherwise)
        block.terminator = Branch(inst.predicate, *order)
        if not isinstance(action, Jump):
            graph.add(then, action)
        return graph.add(otherwise)

    for statement in statements:
        if isinstance(statement, Label):
            if block.terminator is None:
                block.terminator = Jump(statement.name)
            block = graph.add(statement.name)
            continue
        if block.terminator is not None:
            block = graph.add()
        inst = statement
        if inst.opcode == "bra":
            block = guarded(inst, Jump(_symbol(inst.operands[0])))
        elif inst.opcode == "brx":
            table = targets[_symbol(inst.operands[1])]
            block = guarded(inst, Switch(inst.operands[0], table))
        elif inst.opcode in ("ret", "exit"):
            block = guarded(inst, Exit())
        elif is_sync(inst):
            plain = replace(inst, predicate=None)
            resume = graph.fresh()
            block = guarded(inst, Suspend(sync_point(plain), plain, resume))
            if inst.predicate is not None:
                block.terminator = Jump(resume)
            block = graph.add(resume)
        else:
            if len(block.instructions) == _LONGEST:
                following = graph.add()
                block.terminator = Jump(following.label)
                block = following
            block.instructions.append(inst)
            if inst.opcode == "trap" and inst.predicate is None:
                block.terminator = Exit()
    for block in graph.blocks.values():
        if block.terminator is None:
            block.terminator = Exit()
    graph.blocks = {label: graph.blocks[label] for label in graph.reachable(ENTRY)}
    return graph


def _symbol(operand: Operand) -> str:
    return operand.name if isinstance(operand, Symbol) else ""


def terminator_uses(terminator: Terminator | None) -> list[str]:
    """Returns the registers that the end of a block reads."""
    match terminator:
        case Branch(predicate):
            return [predicate]
        case Switch(operand):
            return list(registers(operand))
        case Suspend(point):
            return point_registers(point)[0]
    return []
