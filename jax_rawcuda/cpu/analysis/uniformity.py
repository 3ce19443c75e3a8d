"""How register values vary over the threads of a block.

Each register gets a stride: 0 if all threads hold the same value, n if the value grows
by n from one `threadIdx.x` to the next, `IRREGULAR` for another function of the thread
index, `DATA` if it depends on memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..llvm_types import FLOAT_TYPES, LLVM_TYPES, WIDTHS
from ..ptx import special_registers
from ..ptx.instruction import Instruction
from ..ptx.operands import Integer, Memory, Operand, Register, Special, children
from ..ptx.uses import uses_and_definitions
from ..sync.points import point_registers
from .graph import Graph, Suspend

IRREGULAR = 1 << 40
DATA = 1 << 41
# Of a value that has risen by this per thread, less than 2**31 at the end of a row.
_STEEPEST = 1 << 20
_WORD = 32
Strides = dict[str, int]
_Affine = Callable[[Instruction, list[int]], int]
_COPIES = frozenset({"mov", "cvt", "cvta"})
_FROM_MEMORY = frozenset({"ld", "ldu", "atom", "call", "mbarrier", "isspacep"})


def strides(graph: Graph, *, rows: bool = False, rising: bool = False) -> Strides:
    """Returns the stride of every register; those missing are uniform.

    Args:
      graph: The kernel.
      rows: Compare only threads of one row, with equal `threadIdx.y` and `.z`.
      rising: Give strides only to values that rise by so much from thread to thread
        unless they wrap around, and where those that do so within a row end it below
        what they began it with, or with another difference.
    """
    found: Strides = {"%tid.y": 0, "%tid.z": 0} if rows else {}
    affine = _rising if rising else _affine
    written = {name for name, _ in _definitions(graph, found, frozenset(), affine)}
    changed = True
    while changed:
        changed = False
        for name, stride in _definitions(graph, found, frozenset(written), affine):
            joined = _join(found.get(name), stride)
            if found.get(name) != joined:
                found[name] = joined
                changed = True
    return found


def stride_of(operand: Operand, known: Strides) -> int:
    """Returns the stride of an operand's value (or of a memory operand's address)."""
    match operand:
        case Register(name):
            return known.get(name, 0)
        case Special(name):
            if name == "%tid.x":
                return 1
            if name in known:
                return known[name]
            if name.startswith(special_registers.THREAD_DEPENDENT):
                return IRREGULAR
            return DATA if special_registers.is_clock(name) else 0
        case Memory(base, _):
            return stride_of(base, known)
        case _:
            return max((_rough(child, known) for child in children(operand)), default=0)


def _rough(operand: Operand, known: Strides) -> int:
    stride = stride_of(operand, known)
    return stride if stride in (0, DATA) else IRREGULAR


def _join(old: int | None, new: int) -> int:
    """Joins what two definitions of one register say."""
    if old is None or old == new:
        return new
    if DATA in (old, new):
        return DATA
    return IRREGULAR


def _definitions(
    graph: Graph, known: Strides, computed: frozenset[str], affine: _Affine
) -> Iterator[tuple[str, int]]:
    """Yields (register, stride) where all registers that are read have a stride."""
    for block in graph.blocks.values():
        for inst in block.instructions:
            used, written = uses_and_definitions(inst)
            ready = all(name in known or name not in computed for name in used)
            if written and ready:
                stride = _result(inst, known, affine)
                yield from ((name, stride) for name in written)
        if isinstance(block.terminator, Suspend):
            for name in point_registers(block.terminator.point)[1]:
                yield name, DATA


def _result(inst: Instruction, known: Strides, affine: _Affine) -> int:
    sources = [stride_of(operand, known) for operand in inst.operands[1:]]
    if inst.predicate is not None:
        sources.append(_rough(Register(inst.predicate), known))
    if inst.opcode in _FROM_MEMORY:
        uniform = inst.opcode == "ld" and inst.has("param") and not any(sources)
        return 0 if uniform else DATA
    if not any(sources):
        return 0
    if DATA in sources:
        return DATA
    if inst.opcode not in ("mov", "selp") and FLOAT_TYPES.intersection(inst.types):
        return DATA
    if IRREGULAR in sources or inst.predicate is not None:
        return IRREGULAR
    return affine(inst, sources)


def _affine(inst: Instruction, sources: list[int]) -> int:
    def scaled(value: int, other: int) -> int:
        """The stride of `operand[value] * operand[other]`."""
        if not sources[value]:
            return 0 if not sources[other] else scaled(other, value)
        factor = inst.operands[1 + other]
        if isinstance(factor, Integer):
            return sources[value] * factor.value
        return IRREGULAR

    match inst.opcode:
        case opcode if opcode in _COPIES:
            return sources[0]
        case "add":
            return sources[0] + sources[1]
        case "sub":
            return sources[0] - sources[1]
        case "mul" if not inst.has("hi"):
            return scaled(0, 1)
        case "mad" if not inst.has("hi"):
            return scaled(0, 1) + sources[2]
        case "shl":
            match inst.operands[2]:
                case Integer(count) if 0 <= count < WIDTHS[LLVM_TYPES[inst.type]]:
                    return sources[0] << count
            return IRREGULAR
        case "or" if isinstance(inst.operands[2], Integer) and sources[0]:
            return sources[0]  # NVVM writes `i * 4 + 1` as `i * 4 | 1`.
        case _:
            return IRREGULAR


def _rising(inst: Instruction, sources: list[int]) -> int:
    # Narrow values wrap soon, `i | 64` goes up and down, and a difference of two values
    # that both wrap may hide it.
    narrow = any(WIDTHS[LLVM_TYPES[word]] < _WORD for word in inst.types)
    if narrow or inst.opcode == "or" or (inst.opcode == "sub" and sources[1]):
        return IRREGULAR
    stride = _affine(inst, sources)
    return stride if 0 <= stride <= _STEEPEST else IRREGULAR
