"""Writes checked mode's question before each access."""

from __future__ import annotations

from ..check.actions import Action, Site, exact_block, ordering
from ..ptx.instruction import Instruction
from ..ptx.operands import Operand, registers
from .values import Pointer, ValueWriter

# A pointer to a buffer of the call holds the buffer's number above its address.
_ADDRESS_MASK = (1 << 48) - 1
_ALIGNMENT_SHIFT = 8
_COPY_SHIFT = 18
# CUB's merge sorts read one element too many and drop it.
_LIBRARY = "/cub/"


def reading(em: ValueWriter, inst: Instruction) -> Action:
    """Returns what a load does."""
    action = Action.READ | ordering(inst) | _copy(em, inst.operands[0])
    if em.facts.guessed.isdisjoint(registers(inst.operands[0])):
        return action
    return action | Action.ATOMIC | Action.GUESS


def writing(em: ValueWriter, inst: Instruction) -> Action:
    """Returns what a store does."""
    return Action.WRITE | ordering(inst) | _copy(em, inst.operands[1])


def _copy(em: ValueWriter, value: Operand) -> Action:
    """Returns the number of the load of what is only copied, as a flag."""
    numbers = {em.facts.copied.get(name, 0) for name in registers(value)}
    return Action((numbers.pop() if len(numbers) == 1 else 0) << _COPY_SHIFT)


def untagged(em: ValueWriter, address: str) -> str:
    """Returns an i64 address without the number of its buffer."""
    return em.op(f"and i64 {address}, {_ADDRESS_MASK}")


def guard(
    em: ValueWriter,
    inst: Instruction,
    pointer: Pointer,
    nbytes: int | str,
    action: Action,
    align: int | None = None,
) -> None:
    """Ends the thread unless it may access memory.

    Args:
      em: Of the kernel or device function.
      inst: The accessing instruction.
      pointer: Where the access begins.
      nbytes: Its size, or the i64 value of it.
      action: What it does.
      align: What the address must be a multiple of; `nbytes` by default.
    """
    address = pointer.tagged or em.op(f"ptrtoint ptr {pointer.value} to i64")
    if inst.location and _LIBRARY in inst.location.file:
        action |= Action.UNUSED
    if align is None:
        align = 1 if isinstance(nbytes, str) else nbytes & -nbytes
    flags = action | (align.bit_length() - 1) << _ALIGNMENT_SHIFT
    allowed = em.intrinsic(
        "jrc_check_access",
        "i1",
        ("ptr", "%ctx"),
        ("i64", address),
        ("i64", str(nbytes)),
        ("i32", str(int(flags))),
        ("i32", em.thread),
        ("i32", str(_site(em, inst, pointer.origin))),
    )
    stop, go = em.new_label("denied"), em.new_label("allowed")
    em.branch_if(allowed, go, stop)
    em.label(stop)
    em.leave()
    em.label(go)


def _site(em: ValueWriter, inst: Instruction, origin: str) -> int:
    site = em.site(inst)
    em.state.accesses[site] = Site(exact_block(em.block, inst), origin, inst.location)
    return site


def fence(em: ValueWriter, inst: Instruction) -> None:
    """Notes a memory fence of the thread."""
    in_block = "i32", str(int(inst.has("cta")))
    em.intrinsic(
        "jrc_check_fence", "void", ("ptr", "%ctx"), ("i32", em.thread), in_block
    )


# The runtime must find the variables of device functions, on the host's stack.

_MARK = "%check.mark"


def enter_function(em: ValueWriter) -> list[str]:
    """Returns the lines that note how many variables the callers have."""
    em.declare("jrc_check_mark", "i64", "ptr")
    return [f"  {_MARK} = call i64 @jrc_check_mark(ptr %ctx)"]


def leave_function(em: ValueWriter) -> None:
    """Forgets the function's variables."""
    em.intrinsic("jrc_check_pop", "void", ("ptr", "%ctx"), ("i64", _MARK))


def free(em: ValueWriter, inst: Instruction, address: str) -> None:
    """Frees device memory, or ends the thread if that is wrong."""
    where = ("i32", em.thread), ("i32", str(em.site(inst)))
    em.intrinsic("jrc_check_free", "void", ("ptr", "%ctx"), ("i64", address), *where)
    em.end_if_faulted()
