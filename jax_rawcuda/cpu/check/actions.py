"""Checks in the code of a kernel: each access asks the runtime first.

`ffi/cpu/check/access.h` mirrors the numbers.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from ..ptx.instruction import Instruction, Location

# Bytes between variables, so that an index that leaves one meets none.
RED_ZONE = 64


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
