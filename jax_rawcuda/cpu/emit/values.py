"""PTX registers, constants and symbols as LLVM values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..._base.errors import UnsupportedError
from ..check.facts import NO_FACTS, AccessFacts
from ..llvm_types import LLVM_TYPES, WIDTHS, float_constant, integer_constant
from ..ptx.instruction import Instruction
from ..ptx.operands import (
    Float,
    Integer,
    Negative,
    Not,
    Operand,
    Pair,
    Register,
    Sink,
    Special,
    Symbol,
    Vector,
)
from . import special
from .ir import IrWriter
from .state import ModuleState


@dataclass(frozen=True, slots=True)
class Pointer:
    """An LLVM pointer.

    Attributes:
      value: LLVM's operand.
      private: Whether the memory belongs to one thread.
      tagged: In checked code, the i64 that the kernel computed.
      shared: Whether the instruction names shared memory.
      origin: In checked code, the variable that it is computed from, if known.
    """

    value: str
    private: bool = False
    tagged: str = ""
    shared: bool = False
    origin: str = ""


class ValueWriter(IrWriter):
    """Reads and writes the operands of instructions.

    A register is a stack slot that LLVM promotes; a value is the text of an LLVM
    operand (`%v7`, `-1`).

    Attributes:
      registers: Register name -> PTX type.
      facts: Of checked code: what it shows of its accesses.
      block: Label of the kernel's block that is being written; "" in other functions.
    """

    block = ""

    def __init__(
        self,
        state: ModuleState,
        registers: Mapping[str, str],
        facts: AccessFacts = NO_FACTS,
    ) -> None:
        super().__init__(state)
        self.registers = registers
        self.facts = facts
        self._used: set[str] = set()

    def register_type(self, name: str) -> str:
        """Returns the LLVM type of a register."""
        return LLVM_TYPES[self.registers[name]]

    def slot(self, name: str) -> str:
        """Returns the stack slot of a register."""
        self._used.add(name)
        return f'%"R.{name}"'

    def register_slots(self) -> list[str]:
        """Returns the allocations of all registers used so far."""
        return [
            f"  {self.slot(name)} = alloca {self.register_type(name)}"
            for name in sorted(self._used)
        ]

    def convert(
        self, value: str, source: str, target: str, signed: bool = False
    ) -> str:
        """Reinterprets bits: cuts, or extends with zeros or the sign, or bitcasts."""
        if source == target:
            return value
        have, want = WIDTHS[source], WIDTHS[target]
        if source[0] != "i":
            value = self.op(f"bitcast {source} {value} to i{have}")
        if have > want:
            value = self.op(f"trunc i{have} {value} to i{want}")
        elif have < want:
            extend = "sext" if signed else "zext"
            value = self.op(f"{extend} i{have} {value} to i{want}")
        if target[0] != "i":
            value = self.op(f"bitcast i{want} {value} to {target}")
        return value

    def get(self, operand: Operand, llvm_type: str, signed: bool = False) -> str:
        """Reads an operand as a value of an LLVM type.

        Args:
          operand: Register, constant, symbol, special register, vector, `!p` or `-x`.
          llvm_type: Type of the result. Registers of another type are reinterpreted
            by `convert`; float constants are converted by value.
          signed: Whether a narrower register is extended with its sign.
        """
        match operand:
            case Register(name):
                kind = self.register_type(name)
                value = self.op(f"load {kind}, ptr {self.slot(name)}")
                return self.convert(value, kind, llvm_type, signed)
            case Integer(number):
                if llvm_type[0] == "i":
                    return integer_constant(number, llvm_type)
                width = f"i{WIDTHS[llvm_type]}"
                return self.convert(integer_constant(number, width), width, llvm_type)
            case Float(bits, width):
                if llvm_type in ("half", "float", "double"):
                    return float_constant(bits, width, llvm_type)
                return self.get(Integer(bits), llvm_type)
            case Special(name):
                value, kind = special.read(self, name)
                return self.convert(value, kind, llvm_type)
            case Symbol(name, offset):
                value = self.symbol(name)
                if offset:
                    value = self.op(f"add i64 {value}, {offset}")
                return self.convert(value, "i64", llvm_type)
            case Negative(inner):
                value = self.get(inner, llvm_type)
                if llvm_type[0] == "i":
                    return self.op(f"sub {llvm_type} 0, {value}")
                return self.op(f"fneg {llvm_type} {value}")
            case Not(inner):
                return self.op(f"xor i1 {self.get(inner, 'i1')}, true")
            case Vector(items):
                whole = f"i{WIDTHS[llvm_type]}"
                return self.convert(self._pack(items, whole), whole, llvm_type)
        raise UnsupportedError(f"operand {operand} is not available on the CPU")

    def _pack(self, items: tuple[Operand, ...], llvm_type: str) -> str:
        width = WIDTHS[llvm_type] // len(items)
        result = ""
        for index, item in enumerate(items):
            part = self.convert(self.get(item, f"i{width}"), f"i{width}", llvm_type)
            if index:
                part = self.op(f"shl {llvm_type} {part}, {index * width}")
                part = self.op(f"or {llvm_type} {result}, {part}")
            result = part
        return result

    def set(
        self, operand: Operand, llvm_type: str, value: str, signed: bool = False
    ) -> None:
        """Writes a value to a destination.

        Args:
          operand: Register (the value is cut or extended to it), vector (the value's
            bits are spread over it), pair `p|q` (q gets the negation) or `_`.
          llvm_type: Type of `value`.
          value: What to write.
          signed: Whether a wider register is filled with the sign.
        """
        match operand:
            case Sink():
                return
            case Register(name):
                kind = self.register_type(name)
                value = self.convert(value, llvm_type, kind, signed)
                self.line(f"store {kind} {value}, ptr {self.slot(name)}")
            case Vector(items):
                whole = WIDTHS[llvm_type]
                width = whole // len(items)
                bits = self.convert(value, llvm_type, f"i{whole}")
                for index, item in enumerate(items):
                    part = bits
                    if index:
                        part = self.op(f"lshr i{whole} {bits}, {index * width}")
                    part = self.convert(part, f"i{whole}", f"i{width}")
                    self.set(item, f"i{width}", part)
            case Pair(first, second):
                self.set(first, llvm_type, value)
                self.set(second, "i1", self.op(f"xor i1 {value}, true"))
            case _:
                raise UnsupportedError(
                    f"destination {operand} is not available on the CPU"
                )

    def symbol(self, name: str) -> str:
        """Returns the i64 value of a symbol: an offset for shared variables."""
        shared = self.state.variables.shared_offset(name)
        if shared is not None:
            return str(shared)
        return self.op(f"ptrtoint ptr {self.symbol_pointer(name)} to i64")

    def symbol_pointer(self, name: str) -> str:
        """Returns the pointer to a variable or function that is not shared."""
        if self.is_private(name):
            return self.private_pointer(name)
        return self.state.variables.pointer(name)

    def site(self, inst: Instruction) -> int:
        """Returns a new fault site, which messages show as the instruction."""
        where = f"{inst.location}: " if inst.location else ""
        self.state.sites.append(where + inst.line)
        return len(self.state.sites) - 1

    def is_private(self, name: str) -> bool:
        """Whether a symbol is a parameter or local variable of this function."""
        raise NotImplementedError

    def private_pointer(self, name: str) -> str:
        """Returns the pointer to a parameter or local variable of this function."""
        raise NotImplementedError
