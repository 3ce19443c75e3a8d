"""Matrix instructions that a whole warp executes together."""

from __future__ import annotations

from collections.abc import Callable

from .._abi import SyncKind, SyncPoint
from ..emitter import unsupported
from ..operands import Instruction, Operand, Vector

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
