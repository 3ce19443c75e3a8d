"""A synchronisation point: what waits there, what goes in and out."""

from __future__ import annotations

from dataclasses import dataclass

from ..abi import SyncKind
from ..ptx.instruction import Instruction, unsupported
from ..ptx.operands import Integer, Operand, registers

FULL_MASK = 0xFFFFFFFF
# (slot, operand, LLVM type) of each 64-bit slot that is stored or loaded.
Slots = tuple[tuple[int, Operand, str], ...]


@dataclass(frozen=True, slots=True)
class SyncPoint:
    """One place where a kernel is cut.

    Attributes:
      kind: What is waited for.
      sub: Which operation of the kind.
      aux: A second selector; its meaning depends on the kind.
      n_in: 64-bit input slots per thread.
      n_out: 64-bit result slots per thread.
      full_mask: Whether the member mask is known to be the whole warp.
      imm0: First operand known at translation time.
      imm1: Second such operand.
      inputs: What to store before the cut. The type `address` stores the effective
        address of a memory operand.
      results: What to load after the cut.
    """

    kind: SyncKind
    sub: int = 0
    aux: int = 0
    n_in: int = 0
    n_out: int = 0
    full_mask: bool = False
    imm0: int = 0
    imm1: int = 0
    inputs: Slots = ()
    results: Slots = ()

    def descriptor(self) -> tuple[int, int, int, int, int, int, int, int]:
        """Returns the eight integers that the scheduler reads."""
        return (
            int(self.kind),
            self.sub,
            self.aux,
            self.n_in,
            self.n_out,
            int(self.full_mask),
            self.imm0,
            self.imm1,
        )


def point_registers(point: SyncPoint) -> tuple[list[str], list[str]]:
    """Returns the registers that a sync point reads and writes."""
    uses = [name for _, operand, _ in point.inputs for name in registers(operand)]
    written = [name for _, operand, _ in point.results for name in registers(operand)]
    return uses, written


def choice(inst: Instruction, table: dict[str, int]) -> int:
    """Returns the number that a table has for one of the modifiers."""
    word = inst.pick(*table)
    if word is None:
        raise unsupported(inst, "none of ." + ", .".join(table) + " is given")
    return table[word]


def is_full(mask: Operand) -> bool:
    """Whether a member mask is known to be the whole warp."""
    return isinstance(mask, Integer) and mask.value & FULL_MASK == FULL_MASK


def masked(mask: Operand, *inputs: tuple[int, Operand, str]) -> tuple[bool, Slots]:
    """Returns whether the mask is the whole warp, and the inputs with it if not."""
    if is_full(mask):
        return True, inputs
    return False, ((0, mask, "i32"), *inputs)
