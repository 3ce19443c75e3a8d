"""Cuts that are not in the user's program: in spin loops, and in loops over memory.

The function of a parallel region runs its threads one after another. That goes wrong
where a thread waits in a loop until another has written something: the other one does
not run before the first is done. So a loop that reads memory as others may change it
lets the scheduler in on its way back, once the block has used up a budget of turns; up
to then the value may come from another block, which runs beside this one.

It is slow where each thread strides through global memory, as in a grid-stride loop:
one thread after the other would fetch every line of memory again. A sync point on the
way back makes the whole block take a turn together, and LLVM vectorises the turn over
threads. A cut costs a store and a load for what is live across it, so a loop is left
alone if its threads leave it far apart or do not touch neighbouring elements.
"""

from __future__ import annotations

from ..abi import SyncKind
from ..analysis.graph import Block, Branch, Graph, Spend, Suspend, Switch
from ..analysis.loops import Loop, loops_between_syncs, nest, predecessors
from ..analysis.uniformity import DATA, Strides, stride_of, strides
from ..ptx.instruction import Instruction, Location
from ..ptx.operands import Integer, Operand, registers
from ..ptx.types import SIZES
from ..ptx.uses import uses_and_definitions
from ..sync.points import SyncPoint

# A loop whose threads leave at different times is walked in step only if its counter
# moves at least this far per turn, so that few turns have threads missing.
_MINIMUM_STEP = 32
_WAITING = ("volatile", "acquire", "relaxed", "mmio")


def cut_spin_loops(graph: Graph) -> None:
    """Lets other threads run while a loop waits for memory that they write."""
    position = {label: i for i, label in enumerate(graph.blocks)}
    for blocks in loops_between_syncs(graph):
        members = [graph.blocks[label] for label in sorted(blocks)]
        if not any(_waits(inst) for block in members for inst in block.instructions):
            continue
        for block in members:
            back = [
                target
                for target in block.successors(False)
                if target in blocks and position[target] <= position[block.label]
            ]
            graph.redirect(
                block.label,
                {target: _add_yield(graph, target, block) for target in back},
            )


def _waits(inst: Instruction) -> bool:
    if inst.opcode == "ld":
        return inst.has(*_WAITING)
    return inst.opcode in ("atom", "mbarrier")


def _add_yield(graph: Graph, target: str, block: Block) -> str:
    location = block.instructions[-1].location if block.instructions else None
    point = _suspend(SyncKind.YIELD, "spin loop", target, location)
    pause = graph.add(terminator=point)
    return graph.add(terminator=Spend(pause.label, target)).label


def _suspend(
    kind: SyncKind, text: str, resume: str, location: Location | None = None
) -> Suspend:
    return Suspend(
        SyncPoint(kind), Instruction("loop", location=location, text=text), resume
    )


def cut_loops(graph: Graph) -> None:
    """Makes a block walk its loops over global memory turn by turn."""
    candidates = loops_between_syncs(graph)
    if not candidates:
        return
    known = strides(graph)
    in_row = strides(graph, rows=True)
    before = predecessors(graph)
    chosen: list[Loop] = []
    for blocks in candidates:
        loops = nest(graph, blocks, before)
        if (
            loops
            and all(_in_step(graph, loop, known) for loop in loops)
            and _streams(graph, loops[0], in_row)
        ):
            chosen += loops
    for loop in chosen:
        _cut(graph, loop)


def _cut(graph: Graph, loop: Loop) -> None:
    """Turns the edges into a loop's header, and out of the loop, into cuts."""
    cuts: dict[str, str] = {}

    def cut(target: str) -> str:
        if target not in cuts:
            point = _suspend(SyncKind.LOOP, "loop", target)
            cuts[target] = graph.add(terminator=point).label
        return cuts[target]

    for label in list(graph.blocks):
        block = graph.blocks[label]
        if isinstance(block.terminator, Suspend) and label not in loop.blocks:
            continue
        inside = label in loop.blocks
        graph.redirect(
            label,
            {
                target: cut(target)
                for target in block.successors(False)
                if target == loop.header
                or (inside and target not in loop.blocks and not _is_cut(graph, target))
            },
        )


def _is_cut(graph: Graph, label: str) -> bool:
    return isinstance(graph.blocks[label].terminator, Suspend)


def _streams(graph: Graph, loop: Loop, known: Strides) -> bool:
    """Whether neighbouring threads touch neighbouring elements of global memory."""
    coalesced = False
    for label in loop.blocks:
        for inst in graph.blocks[label].instructions:
            if inst.opcode in ("call", "atom", "red", "trap"):
                return False
            if inst.opcode not in ("ld", "st") or inst.has("param", "local", "shared"):
                continue
            address = inst.operands[inst.opcode == "ld"]
            stride = stride_of(address, known)
            if stride == _access_size(inst):
                coalesced = True
            elif stride not in (0, DATA):
                return False
    return coalesced


def _access_size(inst: Instruction) -> int:
    lanes = inst.pick("v2", "v4", "v8")
    return SIZES[inst.type] * (int(lanes[1]) if lanes else 1)


def _in_step(graph: Graph, loop: Loop, known: Strides) -> bool:
    """Whether threads leave a loop together, or nearly."""
    for label in loop.blocks:
        terminator = graph.blocks[label].terminator
        leaves = [t for t in graph.blocks[label].successors() if t not in loop.blocks]
        if isinstance(terminator, Spend | Suspend):
            return False
        if not leaves:
            continue
        if isinstance(terminator, Switch):
            return False
        if isinstance(terminator, Branch):
            stride = known.get(terminator.predicate, 0)
            if stride == DATA:
                return False
            if stride and not _strides_far(graph, loop, terminator.predicate):
                return False
    return True


def _strides_far(graph: Graph, loop: Loop, predicate: str) -> bool:
    """Whether the counter behind an exit test moves a block's width per turn."""
    definitions: dict[str, list[Instruction]] = {}
    for label in loop.blocks:
        for inst in graph.blocks[label].instructions:
            for name in uses_and_definitions(inst)[1]:
                definitions.setdefault(name, []).append(inst)
    seen: set[str] = set()
    todo = [predicate]
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for inst in definitions.get(name, ()):
            if inst.opcode in ("add", "sub") and any(map(_is_small, inst.operands[1:])):
                return False
            todo += [n for o in inst.operands[1:] for n in registers(o)]
    return len(seen) > 1


def _is_small(operand: Operand) -> bool:
    return isinstance(operand, Integer) and abs(operand.value) < _MINIMUM_STEP
