"""Matrix operations of a warp: fragments loaded, stored, multiplied."""

from __future__ import annotations

from ..abi import SyncKind
from ..ptx.instruction import Instruction, unsupported
from ..ptx.operands import Operand
from . import products
from .points import SyncPoint

_MATRIX_COUNTS = {"x1": 1, "x2": 2, "x4": 4}
_TRANSPOSED, _SHARED = 1, 2


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


def ldmatrix(inst: Instruction) -> SyncPoint:
    """Describes a load of 8x8 matrices into fragments."""
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
        results=_results(products.items(destination)),
    )


def stmatrix(inst: Instruction) -> SyncPoint:
    """Describes a store of fragments as 8x8 matrices."""
    count, layout = _matrix_layout(inst)
    destination, source = inst.operands[:2]
    return SyncPoint(
        SyncKind.STMATRIX,
        sub=count,
        aux=layout,
        n_in=2 + count,
        full_mask=True,
        inputs=((1, destination, "address"), *_inputs(2, products.items(source))),
    )


def movmatrix(inst: Instruction) -> SyncPoint:
    """Describes the transposition of a fragment."""
    if not inst.has("m8n8") or not inst.has("trans"):
        raise unsupported(inst, "only .m8n8.trans.b16 is available")
    destination, source = inst.operands
    return SyncPoint(
        SyncKind.MOVMATRIX,
        n_in=2,
        n_out=1,
        full_mask=True,
        inputs=_inputs(1, (source,)),
        results=_results((destination,)),
    )
