"""Barriers of a block, and their reductions."""

from __future__ import annotations

from ..abi import SyncKind
from ..ptx.instruction import Instruction, require
from ..ptx.operands import Integer, Operand
from .points import Slots, SyncPoint, choice, masked

_REDUCTIONS = {"popc": 1, "and": 2, "or": 3}
# PTX has 16; `.tile`, of our headers, stands for others of the scheduler.
_BARRIERS, _TILE_BARRIERS = 16, 64
ARRIVE = 4  # as a selector


def barrier(inst: Instruction) -> SyncPoint:
    """Describes a barrier of a block, a cluster or a warp."""
    operands = inst.operands
    if inst.has("warp"):
        require(inst, "warp", "sync")
        full, inputs = masked(operands[0])
        return SyncPoint(SyncKind.WARP_SYNC, n_in=1, full_mask=full, inputs=inputs)
    if inst.has("cluster"):
        require(
            inst, "cluster", "arrive", "wait", "aligned", "acquire", "release",
            "relaxed",
        )  # fmt: skip
        return SyncPoint(SyncKind.CLUSTER, sub=int(inst.has("wait")))
    require(inst, "cta", "tile", "sync", "arrive", "red", "aligned", *_REDUCTIONS)
    if inst.has("red"):
        return _barrier_reduction(inst)
    whole_block = len(operands) == 1 and operands[0] == Integer(0)
    if inst.has("sync") and whole_block:
        return SyncPoint(SyncKind.BARRIER, aux=1, n_in=2)
    inputs = barrier_inputs(operands)
    sub = 0 if inst.has("sync") else ARRIVE
    limit = _barrier_limit(inst)
    return SyncPoint(SyncKind.BARRIER, sub=sub, n_in=2, imm0=limit, inputs=inputs)


def _barrier_limit(inst: Instruction) -> int:
    return _TILE_BARRIERS if inst.has("tile") else _BARRIERS


def barrier_inputs(operands: tuple[Operand, ...]) -> Slots:
    """The barrier's number, and the count of threads or 0 for the whole block."""
    count = operands[1] if len(operands) > 1 else Integer(0)
    return ((0, operands[0], "i32"), (1, count, "i32"))


def _barrier_reduction(inst: Instruction) -> SyncPoint:
    destination, *rest = inst.operands
    *barrier, predicate = rest
    sub = choice(inst, _REDUCTIONS)
    return SyncPoint(
        SyncKind.BARRIER,
        sub=sub,
        n_in=3,
        n_out=1,
        imm0=_barrier_limit(inst),
        inputs=(*barrier_inputs(tuple(barrier)), (2, predicate, "i1")),
        results=((0, destination, "i32" if inst.has("popc") else "i1"),),
    )
