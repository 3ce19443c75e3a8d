"""The core that instruction families are written against.

An `Emitter` turns the instructions of one function into LLVM IR text. A register is a
stack slot that LLVM promotes; a value is the text of an LLVM operand (`%v7`, `-1`).
`regions.py` and `functions.py` say how a function begins and ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .._errors import UnsupportedError
from . import special
from ._abi import CONTEXT
from ._types import LLVM_TYPES, WIDTHS, float_constant, integer_constant
from .operands import (
    Float,
    Instruction,
    Integer,
    Memory,
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

if TYPE_CHECKING:
    from .variables import Variables

# Address arithmetic on a null pointer that LLVM cannot see through keeps vectorisation
# possible; `inttoptr` does not.
INVARIANT = ", !invariant.load !9"
PARALLEL = ", !llvm.access.group !1"


@dataclass
class ModuleState:
    """What all functions of one translation share."""

    variables: Variables
    opcodes: Mapping[str, Callable[[Emitter, Instruction], None]]
    may_fault: frozenset[str] = frozenset()
    declarations: dict[str, str] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)
    functions: list[str] = field(default_factory=list)
    metadata: list[str] = field(default_factory=list)
    sites: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Pointer:
    """An LLVM pointer; `private` memory belongs to one thread."""

    value: str
    private: bool = False


class Emitter:
    """Writes the instructions of one function as LLVM IR.

    Attributes:
      state: What the translation's functions share.
      registers: Register name -> PTX type.
      thread: i32 value: linear index of the thread in its block.
      thread_index: i32 values of `threadIdx.x`, `.y`, `.z`.
      lines: The IR of the function's body so far.
      prologue: IR that runs once, before the thread loop.
      parallel: Whether accesses may be marked as independent between threads.
    """

    thread = "%lt"
    thread_index: tuple[str, str, str] = ("%tx", "%ty", "%tz")
    parallel = False

    def __init__(self, state: ModuleState, registers: Mapping[str, str]) -> None:
        self.state = state
        self.registers = registers
        self.lines: list[str] = []
        self.prologue: list[str] = []
        self.used: dict[str, None] = {}
        self._once: dict[object, str] = {}
        self._counter = 0

    # Text

    def line(self, text: str) -> None:
        """Adds one IR line that yields no value."""
        self.lines.append("  " + text)

    def op(self, text: str) -> str:
        """Adds one IR line and returns the name of its value."""
        self._counter += 1
        name = f"%v{self._counter}"
        self.lines.append(f"  {name} = {text}")
        return name

    def intrinsic(self, name: str, result: str, *arguments: tuple[str, str]) -> str:
        """Calls an LLVM intrinsic or a runtime helper.

        Args:
          name: Such as `llvm.sqrt.f32` or `jrc_clock`.
          result: LLVM type of the result, or `void`.
          *arguments: (LLVM type, value) pairs.

        Returns:
          The value, or "" for `void`.
        """
        types = ", ".join(kind for kind, _ in arguments)
        self.state.declarations[name] = f"declare {result} @{name}({types})"
        text = ", ".join(f"{kind} {value}" for kind, value in arguments)
        if result == "void":
            self.line(f"call void @{name}({text})")
            return ""
        return self.op(f"call {result} @{name}({text})")

    def define(self, name: str, text: str) -> None:
        """Adds an internal function, once; `intrinsic` then calls it by `name`.

        Intrinsics that `text` itself calls are declared with `declare`.
        """
        self.state.definitions.setdefault(name, text)

    def declare(self, name: str, result: str, *types: str) -> None:
        """Declares an intrinsic that the text of `define` calls."""
        self.state.declarations[name] = f"declare {result} @{name}({', '.join(types)})"

    def once(self, key: object, *texts: str) -> str:
        """Computes a value once per function, in the prologue.

        Args:
          key: Identifies the value.
          *texts: Right-hand sides; `{0}`, `{1}` are the values of earlier ones.

        Returns:
          The last text's value.
        """
        if key not in self._once:
            values: list[str] = []
            for text in texts:
                name = f"%c{len(self._once)}.{len(values)}"
                self.prologue.append(f"  {name} = {text.format(*values)}")
                values.append(name)
            self._once[key] = values[-1]
        return self._once[key]

    # Control flow inside one instruction

    def new_label(self, stem: str = "l") -> str:
        """Returns a fresh label."""
        self._counter += 1
        return f"{stem}.{self._counter}"

    def label(self, label: str) -> None:
        """Starts the block `label`; the block before must have ended."""
        self.lines.append(f"{label}:")

    def branch(self, label: str) -> None:
        """Ends the block with a jump."""
        self.line(f"br label %{label}")

    def branch_if(self, condition: str, then: str, otherwise: str) -> None:
        """Ends the block with a conditional jump on an i1 value."""
        self.line(f"br i1 {condition}, label %{then}, label %{otherwise}")

    def end_thread(self) -> None:
        """Ends the thread (`exit` or a fault) and starts an unreachable block."""
        self.leave()
        self.label(self.new_label("dead"))

    def leave(self) -> None:
        """Ends the block by ending the thread, or the function with it."""
        raise NotImplementedError

    def end_if_faulted(self) -> None:
        """Ends the thread when the call just made recorded a fault."""
        field_pointer = self.op(
            f"getelementptr i8, ptr %ctx, i64 {CONTEXT['faulted'][0]}"
        )
        flag = self.op(f"load volatile i32, ptr {field_pointer}, align 4")
        fine = self.op(f"icmp eq i32 {flag}, 0")
        stop, go = self.new_label("fault"), self.new_label("go")
        self.branch_if(fine, go, stop)
        self.label(stop)
        self.leave()
        self.label(go)

    # Registers and constants

    def register_type(self, name: str) -> str:
        """Returns the LLVM type of a register."""
        return LLVM_TYPES[self.registers[name]]

    def slot(self, name: str) -> str:
        """Returns the stack slot of a register."""
        self.used[name] = None
        return f'%"R.{name}"'

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

    # Block context

    def context(self, name: str, index: int = 0) -> str:
        """Reads a field of the block context that is constant while the block runs."""
        offset, kind = CONTEXT[name]
        return self.once(
            ("context", name, index),
            f"getelementptr i8, ptr %ctx, i64 {offset + 4 * index}",
            f"load {kind}, ptr {{0}}{INVARIANT}",
        )

    # Memory

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

    def is_private(self, name: str) -> bool:
        """Whether a symbol is a parameter or local variable of this function."""
        raise NotImplementedError

    def private_pointer(self, name: str) -> str:
        """Returns the pointer to a parameter or local variable of this function."""
        raise NotImplementedError

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
            pointer = self.symbol_pointer(base.name)
            return self.offset(Pointer(pointer, private), base.offset + operand.offset)
        address = self.effective_address(operand)
        if space == "shared::cluster":
            address = self.intrinsic(
                "jrc_cluster_addr", "i64", ("ptr", "%ctx"), ("i64", address)
            )
            return Pointer(self.generic(address))
        if space.startswith("shared"):
            root = self.context("shared")
            return Pointer(self.op(f"getelementptr i8, ptr {root}, i64 {address}"))
        return Pointer(self.generic(address), space in ("local", "param"))

    def generic(self, address: str) -> str:
        """Returns the pointer of an i64 generic address."""
        return self.op(f"getelementptr i8, ptr {self.context('zero')}, i64 {address}")

    def offset(self, pointer: Pointer, offset: int) -> Pointer:
        """Returns a pointer `offset` bytes further."""
        if not offset:
            return pointer
        value = self.op(f"getelementptr i8, ptr {pointer.value}, i64 {offset}")
        return Pointer(value, pointer.private)

    def load(
        self, llvm_type: str, pointer: Pointer, align: int, volatile: bool = False
    ) -> str:
        """Loads a value that does not synchronise."""
        word = "load volatile" if volatile else "load"
        text = f"{word} {llvm_type}, ptr {pointer.value}, align {align}"
        return self.op(text + self.access(pointer))

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
        self.line(text + self.access(pointer))

    def access(self, pointer: Pointer) -> str:
        """Returns the metadata suffix for a plain access through a pointer."""
        return PARALLEL if self.parallel and not pointer.private else ""

    # Instructions

    def emit(self, inst: Instruction) -> None:
        """Emits one instruction, under its predicate."""
        add = self.state.opcodes.get(inst.opcode)
        if add is None:
            raise self.unsupported(inst)
        if inst.predicate is None:
            add(self, inst)
            return
        guard = self.get(Register(inst.predicate), "i1")
        then, end = self.new_label("then"), self.new_label("end")
        targets = (end, then) if inst.negated else (then, end)
        self.branch_if(guard, *targets)
        self.label(then)
        add(self, inst)
        self.branch(end)
        self.label(end)

    def site(self, inst: Instruction) -> int:
        """Returns a new fault site, which messages show as the instruction."""
        where = f"{inst.location}: " if inst.location else ""
        self.state.sites.append(where + (inst.text or inst.name))
        return len(self.state.sites) - 1

    def unsupported(self, inst: Instruction, why: str = "") -> UnsupportedError:
        """Makes the error for an instruction that the CPU route cannot run."""
        return unsupported(inst, why)


def unsupported(inst: Instruction, why: str = "") -> UnsupportedError:
    """Makes the error for an instruction that the CPU route cannot run."""
    reason = why or "not available on the CPU"
    return UnsupportedError(f"instruction {inst}: {reason}")
