"""Warp operations: shuffles, votes, matches, reductions."""

from __future__ import annotations

from ..abi import SyncKind
from ..ptx.instruction import Instruction, require, unsupported
from ..ptx.operands import Integer, Operand, Pair, Sink
from .points import Slots, SyncPoint, choice, is_full, masked

_SHUFFLES = {"idx": 0, "up": 1, "down": 2, "bfly": 3}
_VOTES = {"all": 0, "any": 1, "uni": 2, "ballot": 3}
_BALLOT = 3
_MATCHES = {"any": 0, "all": 1}
_REDUX = {"add": 0, "min": 1, "max": 2, "and": 3, "or": 4, "xor": 5}
_REDUX_TYPES = {"u32": 0, "b32": 0, "s32": 1}
_LANE_BITS = 31


def _results(destination: Operand) -> Slots:
    if isinstance(destination, Pair):
        return ((0, destination.first, "i32"), (1, destination.second, "i1"))
    return ((0, destination, "i32"),)


def shuffle(inst: Instruction) -> SyncPoint:
    """Describes a shuffle: each lane reads the value of another."""
    if not inst.has("sync"):
        raise unsupported(inst, "use the .sync form, with a member mask")
    require(inst, "sync", *_SHUFFLES)
    destination, source, lane, clamp, mask = inst.operands
    if isinstance(destination, Pair) and isinstance(destination.second, Sink):
        destination = destination.first
    sub = choice(inst, _SHUFFLES)
    single = is_full(mask) and not isinstance(destination, Pair)
    if single and isinstance(lane, Integer) and isinstance(clamp, Integer):
        return SyncPoint(
            SyncKind.SHUFFLE,
            sub=sub,
            aux=1,
            n_in=4,
            n_out=2,
            full_mask=True,
            imm0=lane.value & _LANE_BITS,
            imm1=clamp.value,
            inputs=((1, source, "i32"),),
            results=_results(destination),
        )
    full, inputs = masked(mask, (1, source, "i32"), (2, lane, "i32"), (3, clamp, "i32"))
    return SyncPoint(
        SyncKind.SHUFFLE,
        sub=sub,
        n_in=4,
        n_out=2,
        full_mask=full,
        inputs=inputs,
        results=_results(destination),
    )


def vote(inst: Instruction) -> SyncPoint:
    """Describes a vote: all, any, uniform or a ballot."""
    if not inst.has("sync"):
        raise unsupported(inst, "use the .sync form, with a member mask")
    require(inst, "sync", *_VOTES)
    destination, predicate, mask = inst.operands
    sub = choice(inst, _VOTES)
    full, inputs = masked(mask, (1, predicate, "i1"))
    kind = "i32" if sub == _BALLOT else "i1"
    return SyncPoint(
        SyncKind.VOTE,
        sub=sub,
        n_in=2,
        n_out=1,
        full_mask=full,
        inputs=inputs,
        results=((0, destination, kind),),
    )


def match(inst: Instruction) -> SyncPoint:
    """Describes a match: the lanes that hold the same value."""
    require(inst, "sync", *_MATCHES)
    destination, source, mask = inst.operands
    kind = "i64" if inst.type == "b64" else "i32"
    full, inputs = masked(mask, (1, source, kind))
    return SyncPoint(
        SyncKind.MATCH,
        sub=choice(inst, _MATCHES),
        n_in=2,
        n_out=2,
        full_mask=full,
        inputs=inputs,
        results=_results(destination),
    )


def active_mask(inst: Instruction) -> SyncPoint:
    """Describes the question which lanes have come here together."""
    require(inst)
    results = ((0, inst.operands[0], "i32"),)
    return SyncPoint(SyncKind.ACTIVE_MASK, n_out=1, results=results)


def redux(inst: Instruction) -> SyncPoint:
    """Describes a reduction of integers over a warp."""
    if inst.type not in _REDUX_TYPES:
        raise unsupported(inst, "only integers can be reduced on the CPU")
    require(inst, "sync", *_REDUX)
    destination, source, mask = inst.operands
    full, inputs = masked(mask, (1, source, "i32"))
    return SyncPoint(
        SyncKind.REDUX,
        sub=choice(inst, _REDUX),
        aux=_REDUX_TYPES[inst.type],
        n_in=2,
        n_out=1,
        full_mask=full,
        inputs=inputs,
        results=((0, destination, "i32"),),
    )


def elect(inst: Instruction) -> SyncPoint:
    """Describes the choice of one lane."""
    require(inst, "sync")
    destination, mask = inst.operands
    full, inputs = masked(mask)
    return SyncPoint(
        SyncKind.ELECT,
        n_in=1,
        n_out=2,
        full_mask=full,
        inputs=inputs,
        results=_results(destination),
    )
