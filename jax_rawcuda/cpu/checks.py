"""Checks in the code of a kernel: each access asks the runtime first.

`ffi/cpu/check_access.h` mirrors the numbers.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._abi import SyncKind, SyncPoint
from .operands import Instruction, Location, Memory, Operand, registers

if TYPE_CHECKING:
    from .device import FunctionEmitter
    from .emitter import Emitter, Pointer

# A PTX text that begins with this is translated with checks.
PRAGMA = '.pragma "jax_rawcuda.checked";\n'

# Bytes between variables, so that an index that leaves one meets none.
RED_ZONE = 64

# A pointer to a buffer of the call holds the buffer's number above its address.
_ADDRESS_MASK = (1 << 48) - 1
_ALIGNMENT_SHIFT = 8
_COPY_SHIFT = 18
# CUB's merge sorts read one element too many and drop it.
_LIBRARY = "/cub/"
_ROW_BYTES = 16  # of an 8x8 matrix of 16-bit elements
_ROWS = 8


@dataclass(frozen=True, slots=True)
class Site:
    """Where an access stands.

    Attributes:
      block: Label of the kernel's basic block; "" if a thread may be elsewhere.
      origin: The variable that the address is computed from, or "".
      location: In the source.
    """

    block: str = ""
    origin: str = ""
    location: Location | None = None


class Action(enum.IntFlag):
    """What an access does."""

    READ = 1
    WRITE = 2
    ATOMIC = 4
    ACQUIRE = 8
    RELEASE = 16
    SHARED = 32
    ASYNC = 64  # its mbarrier orders it, not the thread
    UNUSED = 128  # what nobody has written may be read
    BLOCK_SCOPE = 1 << 16  # atomic for, and seen by, threads of the block only
    GUESS = 1 << 17  # a compare-and-swap verifies what is read: it tells nothing itself


# Volatile accesses are how older code hands values from thread to thread.
ORDERINGS = {
    "relaxed": Action.ATOMIC,
    "volatile": Action.ATOMIC,
    "mmio": Action.ATOMIC,
    "acquire": Action.ATOMIC | Action.ACQUIRE,
    "release": Action.ATOMIC | Action.RELEASE,
    "acq_rel": Action.ATOMIC | Action.ACQUIRE | Action.RELEASE,
}
UPDATE = Action.READ | Action.WRITE | Action.ATOMIC
MBARRIER = UPDATE | Action.ACQUIRE | Action.RELEASE


def ordering(inst: Instruction) -> Action:
    """Returns what the modifiers of an access say about other threads."""
    word = inst.pick(*ORDERINGS)
    scope = Action.BLOCK_SCOPE if inst.has("cta") else Action(0)
    return scope | (ORDERINGS[word] if word else Action(0))


def reading(em: Emitter, inst: Instruction) -> Action:
    """Returns what a load does."""
    action = Action.READ | ordering(inst) | _copy(em, inst.operands[0])
    if em.state.guesses.isdisjoint(registers(inst.operands[0])):
        return action
    return action | Action.ATOMIC | Action.GUESS


def writing(em: Emitter, inst: Instruction) -> Action:
    """Returns what a store does."""
    return Action.WRITE | ordering(inst) | _copy(em, inst.operands[1])


def _copy(em: Emitter, value: Operand) -> Action:
    """Returns the number of the load of what is only copied, as a flag."""
    numbers = {em.state.copies.get(name, 0) for name in registers(value)}
    return Action((numbers.pop() if len(numbers) == 1 else 0) << _COPY_SHIFT)


def untagged(em: Emitter, address: str) -> str:
    """Returns an i64 address without the number of its buffer."""
    return em.op(f"and i64 {address}, {_ADDRESS_MASK}")


def guard(
    em: Emitter,
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


def _site(em: Emitter, inst: Instruction, origin: str) -> int:
    site = em.site(inst)
    em.state.accesses[site] = Site(exact_block(em.block, inst), origin, inst.location)
    return site


def exact_block(block: str, inst: Instruction) -> str:
    """Returns the block, or "" if its thread may have been elsewhere."""
    # What was merged from several branches does not tell which one its thread took.
    return block if _is_exact(inst.location) else ""


def _is_exact(location: Location | None) -> bool:
    while location is not None:
        if not location.exact or 0 in (location.line, location.column):
            return False
        location = location.inlined_at
    return True


def guard_matrix(em: Emitter, inst: Instruction, point: SyncPoint) -> None:
    """Checks the rows that the lanes of ldmatrix and stmatrix point to."""
    if point.kind not in (SyncKind.LDMATRIX, SyncKind.STMATRIX):
        return
    memory = next(operand for _, operand, kind in point.inputs if kind == "address")
    if not isinstance(memory, Memory):
        return
    lane = em.op(f"and i32 {em.thread}, 31")
    asked = em.op(f"icmp ult i32 {lane}, {_ROWS * point.sub}")
    check, done = em.new_label("row"), em.new_label("rows")
    em.branch_if(asked, check, done)
    em.label(check)
    shared = any(word.startswith("shared") for word in inst.modifiers)
    pointer = em.address(memory, "shared" if shared else "generic")
    action = Action.READ if point.kind is SyncKind.LDMATRIX else Action.WRITE
    em.guard(inst, pointer, _ROW_BYTES, action)
    em.branch(done)
    em.label(done)


def fence(em: Emitter, inst: Instruction) -> None:
    """Notes a memory fence of the thread."""
    in_block = "i32", str(int(inst.has("cta")))
    em.intrinsic(
        "jrc_check_fence", "void", ("ptr", "%ctx"), ("i32", em.thread), in_block
    )


# The runtime must find the variables of device functions, on the host's stack.

_MARK = "%check.mark"


def enter_function(em: Emitter) -> list[str]:
    """Returns the lines that note how many variables the callers have."""
    em.declare("jrc_check_mark", "i64", "ptr")
    return [f"  {_MARK} = call i64 @jrc_check_mark(ptr %ctx)"]


def push_variables(em: FunctionEmitter) -> list[str]:
    """Returns the lines that make the function's variables known."""
    em.declare("jrc_check_push", "void", "ptr", "ptr", "i64")
    return [
        f"  call void @jrc_check_push(ptr %ctx, ptr {value}, i64 {size})"
        for value, size in em.stack_variables().items()
    ]


def leave_function(em: Emitter) -> None:
    """Forgets the function's variables."""
    em.intrinsic("jrc_check_pop", "void", ("ptr", "%ctx"), ("i64", _MARK))


def free(em: Emitter, inst: Instruction, address: str) -> None:
    """Frees device memory, or ends the thread if that is wrong."""
    where = ("i32", em.thread), ("i32", str(em.site(inst)))
    em.intrinsic("jrc_check_free", "void", ("ptr", "%ctx"), ("i64", address), *where)
    em.end_if_faulted()
