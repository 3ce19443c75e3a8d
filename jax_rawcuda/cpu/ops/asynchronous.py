"""Asynchronous copies and mbarriers. Copies happen at once."""

from __future__ import annotations

from ..check.actions import MBARRIER, Action
from ..emit.emitter import Emitter
from ..emit.values import Pointer
from ..ptx.instruction import Instruction, require
from ..ptx.operands import Integer, Memory, Operand, Sink
from .common import Handler

_TENSOR_ADVICE = (
    "tensor maps are not available on the CPU; copy with plain loads and stores, or "
    "with cp.async.bulk without .tensor"
)
_WAITS = ("commit_group", "wait_group", "wait_all")
_HINTS = ("L2::cache_hint", "L2::64B", "L2::128B", "L2::256B")
_BULK_ALIGNMENT = 16
_SHARED = ("shared", "shared::cta", "shared::cluster")


def _cp(em: Emitter, inst: Instruction) -> None:
    words = inst.modifiers
    if inst.has("tensor"):
        raise em.unsupported(inst, _TENSOR_ADVICE)
    if words[0] == "reduce":
        raise em.unsupported(inst, "use atom or red, element by element")
    if words[0] != "async":
        raise em.unsupported(inst)
    if inst.has(*_WAITS):
        require(inst, "async", "bulk", "read", *_WAITS)
    elif inst.has("mbarrier") and not inst.has("bulk"):
        _arrive_after_copies(em, inst)
    elif inst.has("bulk"):
        _bulk(em, inst)
    else:
        _copy(em, inst)


def _copy(em: Emitter, inst: Instruction) -> None:
    """cp.async [dst], [src], size{, bytes that exist}: the rest becomes zero."""
    require(inst, "async", "ca", "cg", "global", *_SHARED, *_HINTS)
    target, source, size, *rest = inst.operands
    if not isinstance(size, Integer):
        raise em.unsupported(inst, "the size must be a constant")
    from_ = em.address(source, "global")
    to = em.address(target, "shared")
    em.guard(inst, to, size.value, Action.WRITE)
    # The optional operands are the valid bytes, then the cache policy.
    if inst.has("L2::cache_hint"):
        rest = rest[:-1]
    if rest and not isinstance(rest[0], Sink):
        valid = ("i32", em.get(rest[0], "i32"))
        nbytes = em.convert(valid[1], "i32", "i64") if em.state.checked else ""
        em.guard(inst, from_, nbytes, Action.READ, align=size.value)
        arguments = ("ptr", to.value), ("ptr", from_.value), ("i32", str(size.value))
        em.intrinsic("jrc_cp_zfill", "void", *arguments, valid)
        return
    em.guard(inst, from_, size.value, Action.READ)
    kind = f"i{8 * size.value}"
    em.store(kind, em.load(kind, from_, size.value), to, size.value)


def _arrive_after_copies(em: Emitter, inst: Instruction) -> None:
    """cp.async.mbarrier.arrive: without .noinc the count is raised first."""
    require(inst, "async", "mbarrier", "arrive", "noinc", "b64", *_SHARED)
    if inst.has("noinc"):
        barrier = _barrier(em, inst, inst.operands[0])
        arguments = ("ptr", barrier), ("i32", "1"), ("i32", "0")
        em.intrinsic("jrc_mbar_arrive", "i64", *arguments)


def _bulk(em: Emitter, inst: Instruction) -> None:
    require(
        inst, "async", "bulk", "global", "bulk_group", "mbarrier",
        "mbarrier::complete_tx::bytes", "multicast::cluster", "prefetch", "L2",
        *_SHARED, *_HINTS,
    )  # fmt: skip
    if inst.has("prefetch"):
        return
    spaces = [word for word in inst.modifiers if word in (*_SHARED, "global")]
    target, source, size = inst.operands[:3]
    count = em.get(size, "i32")
    to, from_ = _place(em, target, spaces[0]), _place(em, source, spaces[1])
    nbytes = em.convert(count, "i32", "i64")
    em.guard(inst, to, nbytes, Action.WRITE | Action.ASYNC, _BULK_ALIGNMENT)
    em.guard(inst, from_, nbytes, Action.READ, _BULK_ALIGNMENT)
    if inst.has("multicast::cluster"):
        place, mask = inst.operands[3:5]
        em.intrinsic(
            "jrc_multicast",
            "void",
            ("ptr", "%ctx"),
            ("ptr", to.value),
            ("ptr", from_.value),
            ("i32", count),
            ("ptr", _place(em, place, spaces[0]).value),
            ("i32", em.get(mask, "i32")),
        )
        return
    em.intrinsic(
        "llvm.memcpy.p0.p0.i64",
        "void",
        ("ptr", to.value),
        ("ptr", from_.value),
        ("i64", nbytes),
        ("i1", "false"),
    )
    if inst.has("mbarrier::complete_tx::bytes"):
        # The barrier lies beside the end of the copy that is in shared memory.
        space = spaces[0] if spaces[0] in _SHARED else spaces[1]
        barrier = _place(em, inst.operands[3], space)
        em.guard(inst, barrier, 8, MBARRIER)
        arguments = ("ptr", barrier.value), ("i32", count)
        em.intrinsic("jrc_mbar_complete_tx", "void", *arguments)


def _place(em: Emitter, operand: Operand, space: str) -> Pointer:
    return em.address(operand, space)


# Barriers in memory


def _barrier(em: Emitter, inst: Instruction, operand: Operand) -> str:
    pointer = em.address(operand, inst.pick(*_SHARED) or "generic")
    em.guard(inst, pointer, 8, _barrier_action(inst))
    return pointer.value


def _barrier_action(inst: Instruction) -> Action:
    if inst.has("init"):
        return Action.WRITE
    if inst.has("test_wait", "try_wait"):
        return Action.READ | Action.ATOMIC | Action.ACQUIRE
    return MBARRIER


def _mbarrier(em: Emitter, inst: Instruction) -> None:
    action = inst.modifiers[0]
    handler = _ACTIONS.get(action)
    if handler is None:
        raise em.unsupported(inst)
    require(
        inst, action, "release", "acquire", "relaxed", "cta", "cluster",
        "parity", "expect_tx", "noComplete", *_SHARED,
    )  # fmt: skip
    handler(em, inst)


def _init(em: Emitter, inst: Instruction) -> None:
    barrier = ("ptr", _barrier(em, inst, inst.operands[0]))
    count = ("i32", em.get(inst.operands[1], "i32"))
    em.intrinsic("jrc_mbar_init", "void", barrier, count)


def _inval(em: Emitter, inst: Instruction) -> None:
    del em, inst


def _expect(em: Emitter, inst: Instruction) -> None:
    barrier = ("ptr", _barrier(em, inst, inst.operands[0]))
    count = ("i32", em.get(inst.operands[1], "i32"))
    em.intrinsic(f"jrc_mbar_{inst.modifiers[0]}", "void", barrier, count)


def _arrive(em: Emitter, inst: Instruction) -> None:
    operands = inst.operands
    destination: Operand = Sink()
    if not isinstance(operands[0], Memory):
        destination, *rest = operands
        operands = tuple(rest)
    barrier = ("ptr", _barrier(em, inst, operands[0]))
    count = ("i32", em.get(operands[1], "i32") if len(operands) > 1 else "1")
    if inst.has("expect_tx"):
        em.intrinsic("jrc_mbar_expect_tx", "void", barrier, count)
        count = ("i32", "1")
    drop = ("i32", str(int(inst.modifiers[0] == "arrive_drop")))
    state = em.intrinsic("jrc_mbar_arrive", "i64", barrier, count, drop)
    em.set(destination, "i64", state)


def _test(em: Emitter, inst: Instruction) -> None:
    """test_wait and try_wait; a suspend-time hint is ignored."""
    destination, address, phase = inst.operands[:3]
    barrier = ("ptr", _barrier(em, inst, address))
    if inst.has("parity"):
        argument = ("i32", em.get(phase, "i32"))
        done = em.intrinsic("jrc_mbar_test_parity", "i1", barrier, argument)
    else:
        argument = ("i64", em.get(phase, "i64"))
        done = em.intrinsic("jrc_mbar_test", "i1", barrier, argument)
    em.set(destination, "i1", done)


_ACTIONS: dict[str, Handler] = {
    "init": _init,
    "inval": _inval,
    "expect_tx": _expect,
    "complete_tx": _expect,
    "arrive": _arrive,
    "arrive_drop": _arrive,
    "test_wait": _test,
    "try_wait": _test,
}
OPCODES: dict[str, Handler] = {"cp": _cp, "mbarrier": _mbarrier}
