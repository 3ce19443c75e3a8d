"""Where a kernel is cut: barriers, warp-wide operations, and yields of spin loops."""

from __future__ import annotations

from collections.abc import Callable

from .._abi import SyncKind, SyncPoint
from ..emitter import unsupported
from ..operands import Instruction, Integer, Operand, Pair, Sink
from . import matrices

FULL_MASK = 0xFFFFFFFF
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
# Pseudo-instructions that the control-flow pass inserts.
YIELD, LOOP_CUT = "yield", "loopcut"

_Inputs = tuple[tuple[int, Operand, str], ...]
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
        whole = point.aux == 1 or point.inputs[:2] == _barrier_inputs((Integer(0),))
        return point.sub != _ARRIVE and whole
    if point.kind is SyncKind.CLUSTER:
        return bool(point.sub)
    return point.kind in _OF_WARPS


def _require(inst: Instruction, *words: str) -> None:
    for word in inst.modifiers:
        if word not in words and word not in inst.types:
            raise unsupported(inst, f".{word} is not available on the CPU")


def _choice(inst: Instruction, table: dict[str, int]) -> int:
    word = inst.pick(*table)
    if word is None:
        raise unsupported(inst, "none of ." + ", .".join(table) + " is given")
    return table[word]


def _is_full(mask: Operand) -> bool:
    return isinstance(mask, Integer) and mask.value & FULL_MASK == FULL_MASK


def _masked(mask: Operand, *inputs: tuple[int, Operand, str]) -> tuple[bool, _Inputs]:
    """Returns whether the mask is the whole warp, and the inputs with it if not."""
    if _is_full(mask):
        return True, inputs
    return False, ((0, mask, "i32"), *inputs)


# Barriers

_REDUCTIONS = {"popc": 1, "and": 2, "or": 3}
_ARRIVE = 4
# PTX has 16; `.tile`, of our headers, stands for others of the scheduler.
_BARRIERS, _TILE_BARRIERS = 16, 64


def _barrier(inst: Instruction) -> SyncPoint:
    operands = inst.operands
    if inst.has("warp"):
        _require(inst, "warp", "sync")
        full, inputs = _masked(operands[0])
        return SyncPoint(SyncKind.WARP_SYNC, n_in=1, full_mask=full, inputs=inputs)
    if inst.has("cluster"):
        _require(
            inst, "cluster", "arrive", "wait", "aligned", "acquire", "release",
            "relaxed",
        )  # fmt: skip
        return SyncPoint(SyncKind.CLUSTER, sub=int(inst.has("wait")))
    _require(inst, "cta", "tile", "sync", "arrive", "red", "aligned", *_REDUCTIONS)
    if inst.has("red"):
        return _barrier_reduction(inst)
    whole_block = len(operands) == 1 and operands[0] == Integer(0)
    if inst.has("sync") and whole_block:
        return SyncPoint(SyncKind.BARRIER, aux=1, n_in=2)
    inputs = _barrier_inputs(operands)
    sub = 0 if inst.has("sync") else _ARRIVE
    limit = _barrier_limit(inst)
    return SyncPoint(SyncKind.BARRIER, sub=sub, n_in=2, imm0=limit, inputs=inputs)


def _barrier_limit(inst: Instruction) -> int:
    return _TILE_BARRIERS if inst.has("tile") else _BARRIERS


def _barrier_inputs(operands: tuple[Operand, ...]) -> _Inputs:
    """The barrier's number, and the count of threads or 0 for the whole block."""
    count = operands[1] if len(operands) > 1 else Integer(0)
    return ((0, operands[0], "i32"), (1, count, "i32"))


def _barrier_reduction(inst: Instruction) -> SyncPoint:
    destination, *rest = inst.operands
    *barrier, predicate = rest
    sub = _choice(inst, _REDUCTIONS)
    return SyncPoint(
        SyncKind.BARRIER,
        sub=sub,
        n_in=3,
        n_out=1,
        imm0=_barrier_limit(inst),
        inputs=(*_barrier_inputs(tuple(barrier)), (2, predicate, "i1")),
        results=((0, destination, "i32" if inst.has("popc") else "i1"),),
    )


# Operations of a warp

_SHUFFLES = {"idx": 0, "up": 1, "down": 2, "bfly": 3}
_VOTES = {"all": 0, "any": 1, "uni": 2, "ballot": 3}
_BALLOT = 3
_MATCHES = {"any": 0, "all": 1}
_REDUX = {"add": 0, "min": 1, "max": 2, "and": 3, "or": 4, "xor": 5}
_REDUX_TYPES = {"u32": 0, "b32": 0, "s32": 1}
_LANE_BITS = 31


def _results(destination: Operand) -> tuple[tuple[int, Operand, str], ...]:
    if isinstance(destination, Pair):
        return ((0, destination.first, "i32"), (1, destination.second, "i1"))
    return ((0, destination, "i32"),)


def _shuffle(inst: Instruction) -> SyncPoint:
    if not inst.has("sync"):
        raise unsupported(inst, "use the .sync form, with a member mask")
    _require(inst, "sync", *_SHUFFLES)
    destination, source, lane, clamp, mask = inst.operands
    if isinstance(destination, Pair) and isinstance(destination.second, Sink):
        destination = destination.first
    sub = _choice(inst, _SHUFFLES)
    single = _is_full(mask) and not isinstance(destination, Pair)
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
    full, inputs = _masked(
        mask, (1, source, "i32"), (2, lane, "i32"), (3, clamp, "i32")
    )
    return SyncPoint(
        SyncKind.SHUFFLE,
        sub=sub,
        n_in=4,
        n_out=2,
        full_mask=full,
        inputs=inputs,
        results=_results(destination),
    )


def _vote(inst: Instruction) -> SyncPoint:
    if not inst.has("sync"):
        raise unsupported(inst, "use the .sync form, with a member mask")
    _require(inst, "sync", *_VOTES)
    destination, predicate, mask = inst.operands
    sub = _choice(inst, _VOTES)
    full, inputs = _masked(mask, (1, predicate, "i1"))
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


def _match(inst: Instruction) -> SyncPoint:
    _require(inst, "sync", *_MATCHES)
    destination, source, mask = inst.operands
    kind = "i64" if inst.type == "b64" else "i32"
    full, inputs = _masked(mask, (1, source, kind))
    return SyncPoint(
        SyncKind.MATCH,
        sub=_choice(inst, _MATCHES),
        n_in=2,
        n_out=2,
        full_mask=full,
        inputs=inputs,
        results=_results(destination),
    )


def _active_mask(inst: Instruction) -> SyncPoint:
    _require(inst)
    results = ((0, inst.operands[0], "i32"),)
    return SyncPoint(SyncKind.ACTIVE_MASK, n_out=1, results=results)


def _redux(inst: Instruction) -> SyncPoint:
    if inst.type not in _REDUX_TYPES:
        raise unsupported(inst, "only integers can be reduced on the CPU")
    _require(inst, "sync", *_REDUX)
    destination, source, mask = inst.operands
    full, inputs = _masked(mask, (1, source, "i32"))
    return SyncPoint(
        SyncKind.REDUX,
        sub=_choice(inst, _REDUX),
        aux=_REDUX_TYPES[inst.type],
        n_in=2,
        n_out=1,
        full_mask=full,
        inputs=inputs,
        results=((0, destination, "i32"),),
    )


def _elect(inst: Instruction) -> SyncPoint:
    _require(inst, "sync")
    destination, mask = inst.operands
    full, inputs = _masked(mask)
    return SyncPoint(
        SyncKind.ELECT,
        n_in=1,
        n_out=2,
        full_mask=full,
        inputs=inputs,
        results=_results(destination),
    )


# Pauses

_PAUSES = {
    YIELD: SyncKind.YIELD,
    LOOP_CUT: SyncKind.LOOP,
    "nanosleep": SyncKind.YIELD,
}


def _pause(inst: Instruction) -> SyncPoint:
    return SyncPoint(_PAUSES[inst.opcode])


_SYNCS: dict[str, _Handler] = {
    "bar": _barrier,
    "barrier": _barrier,
    "shfl": _shuffle,
    "vote": _vote,
    "match": _match,
    "activemask": _active_mask,
    "redux": _redux,
    "elect": _elect,
    **dict.fromkeys(_PAUSES, _pause),
    **matrices.SYNCS,
}
