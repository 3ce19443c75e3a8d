"""Matrix operations of a warp: fragments loaded, stored, multiplied."""

from __future__ import annotations

from ..abi import SyncKind
from ..ptx.instruction import Instruction, unsupported
from ..ptx.operands import Operand
from . import products
from .points import Slots, SyncPoint

_MATRIX_COUNTS = {"x1": 1, "x2": 2, "x4": 4}
_TRANSPOSED, _SHARED = 1, 2


def _words(operands: tuple[Operand, ...], first: int = 0) -> Slots:
    """The slots of operands of 32 bits, from slot `first` on."""
    return tuple((i, operand, "i32") for i, operand in enumerate(operands, first))


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
        results=_words(products.items(destination)),
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
        inputs=((1, destination, "address"), *_words(products.items(source), 2)),
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
        inputs=_words((source,), 1),
        results=_words((destination,)),
    )
