"""The core that instruction families are written against.

An `Emitter` turns the instructions of one function into LLVM IR text; `regions.py` and
`functions.py` say how a function begins and ends.
"""

from __future__ import annotations

from ..._base.errors import UnsupportedError
from ..check.actions import Action
from ..ptx.instruction import Instruction, Location, unsupported
from ..ptx.operands import Memory, Operand, Register, Symbol
from . import guards
from .ir import PARALLEL
from .values import Pointer, ValueWriter


class Emitter(ValueWriter):
    """Writes the instructions of one function as LLVM IR.

    Attributes:
      parallel: Whether accesses may be marked as independent between threads.
    """

    parallel = False

    def parameter(self, operand: Operand, offset: int, llvm_type: str) -> str | None:
        """Loads part of a kernel parameter, once, before the thread loop.

        Args:
          operand: The memory operand of `ld.param`.
          offset: Further bytes.
          llvm_type: Type of the result.

        Returns:
          None if the operand is no kernel parameter: then load from `address`.
        """
        del operand, offset, llvm_type
        return None

    def effective_address(self, operand: Memory) -> str:
        """Returns the i64 address of a memory operand, within its state space."""
        base, offset = operand.base, operand.offset
        # 32-bit shared addresses wrap before they are widened.
        narrow = isinstance(base, Register) and self.register_type(base.name) == "i32"
        kind = "i32" if narrow else "i64"
        value = self.get(base, kind)
        if offset:
            value = self.op(f"add {kind} {value}, {offset}")
        return self.convert(value, kind, "i64")

    def address(self, operand: Operand, space: str) -> Pointer:
        """Returns the host pointer of a memory operand.

        Args:
          operand: A `Memory`.
          space: Its state space: generic, global, shared, shared::cta,
            shared::cluster, local, const or param.
        """
        if not isinstance(operand, Memory):
            raise UnsupportedError(f"address {operand} is not available on the CPU")
        base = operand.base
        if isinstance(base, Symbol) and not space.startswith("shared"):
            private = self.is_private(base.name)
            value, origin = self.symbol_pointer(base.name), self.origin(base)
            pointer = Pointer(value, private, origin=origin)
            return self.offset(pointer, base.offset + operand.offset)
        address = self.effective_address(operand)
        if space == "shared::cluster":
            # A signed offset: other blocks' shared memory may lie before this one's.
            low = self.op(f"trunc i64 {address} to i32")
            address = self.op(f"sext i32 {low} to i64")
            root = self.context("shared")
            return Pointer(self.op(f"getelementptr i8, ptr {root}, i64 {address}"))
        if space.startswith("shared"):
            root = self.context("shared")
            value = self.op(f"getelementptr i8, ptr {root}, i64 {address}")
            return Pointer(value, shared=True, origin=self.origin(base))
        tagged = ""
        if self.state.checked:
            tagged, address = address, guards.untagged(self, address)
        if space == "global":
            value = self._from_zero(address)
            return Pointer(value, tagged=tagged, origin=self.origin(base))
        on_stack = self.has_stack_variables()
        private = on_stack or space != "generic"
        value = self.generic(address)
        return Pointer(value, private, tagged, origin=self.origin(base))

    def origin(self, base: Operand) -> str:
        """Returns the variable that an address points into, "" if that is not known."""
        match base:
            case Register(name):
                return self.facts.provenance.get(name, "")
            case Symbol(name):
                return name
            case _:
                return ""

    def has_stack_variables(self) -> bool:
        """Whether a generic address may point to stack memory that threads reuse."""
        return True

    def generic(self, address: str) -> str:
        """Returns the pointer of an i64 generic address."""
        if self.has_stack_variables():
            # LLVM may assume that a loaded pointer never reaches a stack variable.
            return self.op(f"inttoptr i64 {address} to ptr")
        return self._from_zero(address)

    def _from_zero(self, address: str) -> str:
        # `inttoptr` would hide the address from LLVM's vectoriser.
        return self.op(f"getelementptr i8, ptr {self.context('zero')}, i64 {address}")

    def is_kernel_parameter(self, pointer: Pointer) -> bool:
        """Whether a pointer was computed from the address of a kernel's parameter."""
        del pointer
        return False

    def offset(self, pointer: Pointer, offset: int) -> Pointer:
        """Returns a pointer `offset` bytes further."""
        if not offset:
            return pointer
        value = self.op(f"getelementptr i8, ptr {pointer.value}, i64 {offset}")
        return Pointer(value, pointer.private, origin=pointer.origin)

    def guard(
        self,
        inst: Instruction,
        pointer: Pointer,
        nbytes: int | str,
        action: Action,
        align: int | None = None,
    ) -> None:
        """Precedes every access to memory: does nothing unless the code is checked."""
        if self.state.checked:
            if pointer.shared:
                action |= Action.SHARED
            guards.guard(self, inst, pointer, nbytes, action, align)

    def load(
        self, llvm_type: str, pointer: Pointer, align: int, volatile: bool = False
    ) -> str:
        """Loads a value that does not synchronise."""
        word = "load volatile" if volatile else "load"
        text = f"{word} {llvm_type}, ptr {pointer.value}, align {align}"
        return self.op(text + ("" if volatile else self.access(pointer)))

    def store(
        self,
        llvm_type: str,
        value: str,
        pointer: Pointer,
        align: int,
        volatile: bool = False,
    ) -> None:
        """Stores a value without synchronising."""
        word = "store volatile" if volatile else "store"
        text = f"{word} {llvm_type} {value}, ptr {pointer.value}, align {align}"
        # LLVM would vectorise a loop of independent volatile stores, and fails.
        self.line(text + ("" if volatile else self.access(pointer)))

    def access(self, pointer: Pointer) -> str:
        """Returns the metadata suffix for a plain access through a pointer."""
        return PARALLEL if self.parallel and not pointer.private else ""

    def emit(self, inst: Instruction) -> None:
        """Emits one instruction, under its predicate."""
        if inst.predicate is None:
            self._add(inst)
            return
        guard = self.get(Register(inst.predicate), "i1")
        then, end = self.new_label("then"), self.new_label("end")
        targets = (end, then) if inst.negated else (then, end)
        self.branch_if(guard, *targets)
        self.label(then)
        self._add(inst)
        self.branch(end)
        self.label(end)

    def _add(self, inst: Instruction) -> None:
        add = self.state.opcodes.get(inst.opcode)
        if add is None:
            raise self.unsupported(inst)
        try:
            add(self, inst)
        except UnsupportedError as error:
            if str(error).startswith("instruction "):
                raise
            raise self.unsupported(inst, str(error)) from None

    def end_unless(self, fine: str, helper: str, location: Location | None) -> None:
        """Ends the thread unless an i1 value holds; `helper` records why."""
        leave, go = self.new_label("leave"), self.new_label("go")
        self.branch_if(fine, go, leave)
        self.label(leave)
        site = ("i32", str(self.site(Instruction("loop", location=location))))
        self.intrinsic(helper, "void", ("ptr", "%ctx"), ("i32", self.thread), site)
        self.leave()
        self.label(go)

    def unsupported(self, inst: Instruction, why: str = "") -> UnsupportedError:
        """Makes the error for an instruction that the CPU route cannot run."""
        return unsupported(inst, why)
