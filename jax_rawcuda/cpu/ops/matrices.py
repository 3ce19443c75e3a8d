"""Matrix instructions that a whole warp executes together."""

from __future__ import annotations

from ..check.actions import Action
from ..emit.emitter import Emitter
from ..emit.values import Pointer
from ..ptx.instruction import Instruction, require
from ..ptx.operands import Memory
from ..sync import products
from .common import Handler, join, lanes

# Fragments in memory. Which elements of a matrix a lane holds is private to the
# implementation, and agrees with the scheduler's routine for wmma.mma.

_ROWS_AND_COLUMNS = {"a": (0, 2), "b": (2, 1), "c": (0, 1), "d": (0, 1)}  # of m, n, k


def _extents(inst: Instruction) -> tuple[int, int]:
    """Returns the rows and columns of the matrix that a fragment is part of."""
    shape = products.shape_of(inst)
    rows, columns = _ROWS_AND_COLUMNS[inst.modifiers[1]]
    return shape[rows], shape[columns]


def _position(
    em: Emitter, matrix: str, extents: tuple[int, int], element: int
) -> tuple[str, str]:
    """Returns row and column of a lane's element, as i32 values."""
    lane = em.op(f"and i32 {em.thread}, 31")
    group = em.op(f"lshr i32 {lane}, 2")
    member = em.op(f"and i32 {lane}, 3")
    if 4 in extents:  # f64: one element per lane
        return (member, group) if matrix == "b" else (group, member)
    pair = em.op(f"shl i32 {member}, 1")
    across, down = divmod(element >> 1, extents[0] // 8)
    low = element & 1
    if matrix == "b":
        row = em.op(f"add i32 {pair}, {low + 8 * down}")
        return row, em.op(f"add i32 {group}, {8 * across}")
    row = em.op(f"add i32 {group}, {8 * down}")
    return row, em.op(f"add i32 {pair}, {low + 8 * across}")


def _element(em: Emitter, inst: Instruction, base: Pointer, index: int) -> Pointer:
    """Returns the place of a lane's element in memory."""
    extents = _extents(inst)
    row, column = _position(em, inst.modifiers[1], extents, index)
    major, minor = (row, column) if inst.has("row") else (column, row)
    packed = str(extents[inst.has("row")])
    stride = em.get(inst.operands[2], "i32") if len(inst.operands) > 2 else packed
    offset = em.op(f"add i32 {em.op(f'mul i32 {major}, {stride}')}, {minor}")
    offset = em.convert(offset, "i32", "i64", signed=True)
    kind = f"i{products.WIDTHS[inst.type]}"
    value = em.op(f"getelementptr {kind}, ptr {base.value}, i64 {offset}")
    if not base.tagged:
        return Pointer(value, shared=base.shared)
    step = em.op(f"mul i64 {offset}, {products.WIDTHS[inst.type] // 8}")
    return Pointer(value, tagged=em.op(f"add i64 {base.tagged}, {step}"))


def _fragment(em: Emitter, inst: Instruction) -> None:
    """wmma.load and wmma.store."""
    spaces = ("global", "shared", "shared::cta")
    shape = "m{}n{}k{}".format(*products.shape_of(inst))
    require(
        inst, "load", "store", "a", "b", "c", "d", "sync", "aligned", "row", "col",
        shape, *spaces,
    )  # fmt: skip
    action = inst.modifiers[0]
    if inst.type not in products.WIDTHS or products.WIDTHS[inst.type] < 8:
        raise em.unsupported(inst, "fragments of s4, u4 and b1 are not available")
    registers, memory = inst.operands[:2] if action == "load" else inst.operands[1::-1]
    if not isinstance(memory, Memory):
        raise em.unsupported(inst)
    base = em.address(memory, inst.pick(*spaces) or "generic")
    width = products.WIDTHS[inst.type]
    size, kind = width // 8, f"i{width}"
    rows, columns = _extents(inst)
    count = rows * columns // 32
    places = [_element(em, inst, base, index) for index in range(count)]
    per_register = max(32 // width, 1)
    word = f"i{max(width, 32)}"
    for place in places:
        em.guard(inst, place, size, Action.READ if action == "load" else Action.WRITE)
    if action == "store":
        values = [
            value
            for register in products.items(registers)
            for value in lanes(em, em.get(register, word), per_register, width)
        ]
        for value, place in zip(values, places, strict=True):
            em.store(kind, value, place, size)
        return
    values = [em.load(kind, place, size) for place in places]
    words = [
        join(em, values[first : first + per_register], width)
        for first in range(0, count, per_register)
    ]
    # The format of f16 fragments may have room for twice as many.
    for index, register in enumerate(products.items(registers)):
        em.set(register, word, words[index] if index < len(words) else "0")


OPCODES: dict[str, Handler] = {"wmma": _fragment}
