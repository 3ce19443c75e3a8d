"""Which instructions cut a kernel, and the description of each."""

from __future__ import annotations

from collections.abc import Callable

from ..abi import SyncKind
from ..ptx.instruction import Instruction
from ..ptx.operands import Integer
from . import matrices, products
from .barriers import ARRIVE, barrier, barrier_inputs
from .points import SyncPoint
from .warps import active_mask, elect, match, redux, shuffle, vote

_OF_WARPS = {
    SyncKind.WARP_SYNC,
    SyncKind.SHUFFLE,
    SyncKind.VOTE,
    SyncKind.MATCH,
    SyncKind.REDUX,
    SyncKind.ELECT,
    SyncKind.MMA,
    SyncKind.LDMATRIX,
    SyncKind.STMATRIX,
    SyncKind.WMMA,
    SyncKind.MOVMATRIX,
}
_Handler = Callable[[Instruction], SyncPoint]


def is_sync(inst: Instruction) -> bool:
    """Whether a kernel is cut at an instruction."""
    if inst.opcode == "wmma":
        return inst.modifiers[:1] == ("mma",)
    if inst.opcode == "barrier" and inst.has("cluster"):
        return inst.has("arrive", "wait")
    return inst.opcode in _SYNCS


def sync_point(inst: Instruction) -> SyncPoint:
    """Describes the synchronisation that an instruction asks for."""
    return _SYNCS[inst.opcode](inst)


def is_collective(point: SyncPoint) -> bool:
    """Whether all threads of a cluster, block, or mask must come and wait here."""
    if point.kind is SyncKind.BARRIER:
        whole = point.aux == 1 or point.inputs[:2] == barrier_inputs((Integer(0),))
        return point.sub != ARRIVE and whole
    if point.kind is SyncKind.CLUSTER:
        return bool(point.sub)
    return point.kind in _OF_WARPS


def _sleep(inst: Instruction) -> SyncPoint:
    del inst  # others run for as long as they like
    return SyncPoint(SyncKind.YIELD)


_SYNCS: dict[str, _Handler] = {
    "bar": barrier,
    "barrier": barrier,
    "shfl": shuffle,
    "vote": vote,
    "match": match,
    "activemask": active_mask,
    "redux": redux,
    "elect": elect,
    "nanosleep": _sleep,
    "mma": products.mma,
    "ldmatrix": matrices.ldmatrix,
    "stmatrix": matrices.stmatrix,
    "movmatrix": matrices.movmatrix,
    "wmma": products.wmma,
}
