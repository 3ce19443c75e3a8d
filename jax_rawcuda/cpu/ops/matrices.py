"""Matrix instructions that a whole warp executes together."""

from __future__ import annotations

from collections.abc import Callable

from .._abi import SyncKind, SyncPoint
from ..emitter import Emitter, Pointer, unsupported
from ..operands import Instruction, Memory, Operand, Vector
from ._common import Handler, join, require

# (shape, type of A) -> number of the scheduler's routine.
_MMA_SHAPES = {
    ("m16n8k16", "f16"): 0,
    ("m16n8k16", "bf16"): 1,
    ("m16n8k8", "tf32"): 2,
    ("m16n8k8", "f16"): 3,
    ("m16n8k4", "tf32"): 5,
    ("m16n8k32", "s8"): 6,
}
_ACCUMULATORS = 4
_MATRIX_COUNTS = {"x1": 1, "x2": 2, "x4": 4}
_TRANSPOSED, _SHARED = 1, 2


def _items(operand: Operand) -> tuple[Operand, ...]:
    return operand.items if isinstance(operand, Vector) else (operand,)


def _mma(inst: Instruction) -> SyncPoint:
    shape = next((word for word in inst.modifiers if word.startswith("m16")), "")
    types = inst.types
    code = _MMA_SHAPES.get((shape, types[1]))
    if code is None or types[0] not in ("f32", "s32") or inst.has("sp"):
        raise unsupported(
            inst,
            "the CPU knows mma.sync m16n8k16 (f16, bf16), m16n8k8 (f16, tf32), "
            "m16n8k4 (tf32) and m16n8k32 (s8) with 32-bit accumulators",
        )
    words = {"sync", "aligned", "row", "col", "satfinite", shape}
    for word in inst.modifiers:
        if word not in words and word not in types:
            raise unsupported(inst, f".{word} is not available on the CPU")
    destination, a, b, c = (_items(operand) for operand in inst.operands[:4])
    registers = (*a, *b, *c)
    return SyncPoint(
        SyncKind.MMA,
        sub=code,
        aux=len(a) | len(b) << 8,
        n_in=1 + len(registers),
        n_out=_ACCUMULATORS,
        full_mask=True,
        inputs=_inputs(1, registers),
        results=_results(destination),
    )


def _inputs(
    first: int, operands: tuple[Operand, ...]
) -> tuple[tuple[int, Operand, str], ...]:
    return tuple((first + i, operand, "i32") for i, operand in enumerate(operands))


def _results(operands: tuple[Operand, ...]) -> tuple[tuple[int, Operand, str], ...]:
    return tuple((i, operand, "i32") for i, operand in enumerate(operands))


def _matrix_layout(inst: Instruction) -> tuple[int, int]:
    """Returns the number of 8x8 matrices and the layout bits."""
    if "b16" not in inst.types:
        raise unsupported(inst, "only 8x8 matrices of 16-bit elements are available")
    count = inst.pick(*_MATRIX_COUNTS)
    if count is None or not inst.has("m8n8"):
        raise unsupported(inst, "only .m8n8.x1, .x2 and .x4 are available")
    shared = any(word.startswith("shared") for word in inst.modifiers)
    bits = (_TRANSPOSED if inst.has("trans") else 0) | (_SHARED if shared else 0)
    return _MATRIX_COUNTS[count], bits


def _ldmatrix(inst: Instruction) -> SyncPoint:
    count, layout = _matrix_layout(inst)
    destination, source = inst.operands[:2]
    return SyncPoint(
        SyncKind.LDMATRIX,
        sub=count,
        aux=layout,
        n_in=2,
        n_out=count,
        full_mask=True,
        inputs=((1, source, "address"),),
        results=_results(_items(destination)),
    )


def _stmatrix(inst: Instruction) -> SyncPoint:
    count, layout = _matrix_layout(inst)
    destination, source = inst.operands[:2]
    return SyncPoint(
        SyncKind.STMATRIX,
        sub=count,
        aux=layout,
        n_in=2 + count,
        full_mask=True,
        inputs=((1, destination, "address"), *_inputs(2, _items(source))),
    )


def _wmma(inst: Instruction) -> SyncPoint:
    halves = all(kind in ("f32", "f16") for kind in inst.types)
    if not inst.has("m16n16k16") or inst.types.count("f32") != 2 or not halves:
        raise unsupported(inst, "only m16n16k16 with f16 inputs and f32 accumulators")
    destination, *sources = (_items(operand) for operand in inst.operands[:4])
    registers = tuple(register for source in sources for register in source)
    return SyncPoint(
        SyncKind.WMMA,
        n_in=1 + len(registers),
        n_out=len(destination),
        full_mask=True,
        inputs=_inputs(1, registers),
        results=_results(destination),
    )


SYNCS: dict[str, Callable[[Instruction], SyncPoint]] = {
    "mma": _mma,
    "ldmatrix": _ldmatrix,
    "stmatrix": _stmatrix,
    "wmma": _wmma,
}


# Fragments in memory. A lane holds eight elements of a matrix: which ones is private to
# the implementation, and agrees with the scheduler's routine for wmma.mma.

_FRAGMENT = 8
_WIDTHS = {"f16": 16, "f32": 32}


def _position(em: Emitter, matrix: str, element: int) -> tuple[str, str]:
    """Returns row and column of a lane's element, as i32 values."""
    lane = em.op(f"and i32 {em.thread}, 31")
    group = em.op(f"lshr i32 {lane}, 2")
    pair = em.op(f"shl i32 {em.op(f'and i32 {lane}, 3')}, 1")
    low, middle, high = element & 1, element >> 1 & 1, element >> 2
    if matrix == "b":
        row = em.op(f"add i32 {pair}, {low + 8 * middle}")
        return row, em.op(f"add i32 {group}, {8 * high}")
    row = em.op(f"add i32 {group}, {8 * middle}")
    return row, em.op(f"add i32 {pair}, {low + 8 * high}")


def _element(em: Emitter, inst: Instruction, base: Pointer, index: int) -> Pointer:
    """Returns the place of a lane's element in memory."""
    row, column = _position(em, inst.modifiers[1], index)
    major, minor = (row, column) if inst.has("row") else (column, row)
    stride = em.get(inst.operands[2], "i32") if len(inst.operands) > 2 else "16"
    offset = em.op(f"add i32 {em.op(f'mul i32 {major}, {stride}')}, {minor}")
    offset = em.convert(offset, "i32", "i64", signed=True)
    kind = f"i{_WIDTHS[inst.type]}"
    return Pointer(em.op(f"getelementptr {kind}, ptr {base.value}, i64 {offset}"))


def _fragment(em: Emitter, inst: Instruction) -> None:
    """wmma.load and wmma.store."""
    spaces = ("global", "shared", "shared::cta")
    require(
        em, inst, "load", "store", "a", "b", "c", "d", "sync", "aligned", "row", "col",
        "m16n16k16", *spaces,
    )  # fmt: skip
    action, matrix = inst.modifiers[:2]
    if not inst.has("m16n16k16") or inst.type != ("f16" if matrix in "ab" else "f32"):
        raise em.unsupported(
            inst, "only m16n16k16 with f16 inputs and f32 accumulators is available"
        )
    registers, memory = inst.operands[:2] if action == "load" else inst.operands[1::-1]
    if not isinstance(memory, Memory):
        raise em.unsupported(inst)
    base = em.address(memory, inst.pick(*spaces) or "generic")
    width = _WIDTHS[inst.type]
    size, kind = width // 8, f"i{width}"
    places = [_element(em, inst, base, index) for index in range(_FRAGMENT)]
    if action == "store":
        for register, place in zip(_items(registers), places, strict=True):
            em.store(kind, em.get(register, kind), place, size)
        return
    values = [em.load(kind, place, size) for place in places]
    per_register = 32 // width
    words = [
        join(em, values[first : first + per_register], width)
        for first in range(0, _FRAGMENT, per_register)
    ]
    # The format of f16 fragments has room for twice as many.
    for index, register in enumerate(_items(registers)):
        em.set(register, "i32", words[index] if index < len(words) else "0")


OPCODES: dict[str, Handler] = {"wmma": _fragment}
