"""Device functions without synchronisation, as ordinary LLVM functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .cfg import CARRY, Block, Branch, Jump, Switch, build
from .emitter import Emitter, unsupported
from .ir import ModuleState
from .operands import Arguments, Instruction, Operand, Register, Symbol
from .ptx import Function, Variable
from .variables import device_symbol


@dataclass(frozen=True, slots=True)
class Call:
    """The parts of a `call` instruction.

    Attributes:
      target: The function's symbol, or the register that holds its address.
      results: Names of the parameter memory for results.
      parameters: Names of the parameter memory for arguments.
    """

    target: Symbol | Register
    results: tuple[str, ...]
    parameters: tuple[str, ...]


def parse_call(inst: Instruction) -> Call:
    """Takes a `call` instruction apart."""
    operands = list(inst.operands)
    results: tuple[str, ...] = ()
    if operands and isinstance(operands[0], Arguments):
        results = _names(operands.pop(0))
    target = operands.pop(0)
    parameters = _names(operands[0]) if operands else ()
    if not isinstance(target, Symbol | Register):
        raise unsupported(inst)
    return Call(target, results, parameters)


def _names(operand: Operand) -> tuple[str, ...]:
    """Names in `(a, b)`; () for the prototype that follows an indirect call."""
    if not isinstance(operand, Arguments):
        return ()
    return tuple(item.name for item in operand.items if isinstance(item, Symbol))


def call_device(em: Emitter, call: Call) -> None:
    """Calls a device function of the same module; ends the thread if it faulted."""
    arguments = ["ptr %ctx", f"i32 {em.thread}"]
    arguments += [f"i32 {index}" for index in em.thread_index]
    arguments += [
        f"ptr {em.private_pointer(name)}" for name in (*call.results, *call.parameters)
    ]
    if isinstance(call.target, Symbol):
        callee = device_symbol(call.target.name)
        may_fault = call.target.name in em.state.may_fault
    else:
        callee = em.op(f"inttoptr i64 {em.get(call.target, 'i64')} to ptr")
        may_fault = True
    em.line(f"call void {callee}({', '.join(arguments)})")
    if may_fault:
        em.end_if_faulted()


class FunctionEmitter(Emitter):
    """Writes one device function.

    Parameters and results are pointers to the caller's parameter memory.
    """

    def __init__(self, state: ModuleState, function: Function) -> None:
        body = function.body
        super().__init__(state, {**body.registers, CARRY: "pred"})
        self._function = function
        self._parameters = {
            variable.name: f"%p{index}"
            for index, variable in enumerate((*function.results, *function.parameters))
        }
        self._locals = {v.name: v for v in body.variables if v.space != "shared"}

    def write(self) -> None:
        """Adds the function to the translation."""
        body = self._function.body
        graph = build(body.statements, body.targets)
        labels = {label: f"L{index}" for index, label in enumerate(graph.blocks)}
        for label, block in graph.blocks.items():
            self.label(labels[label])
            for inst in block.instructions:
                self.emit(inst)
            end_block(self, block, labels)
        pointers = "".join(f", ptr {name}" for name in self._parameters.values())
        self.state.functions += [
            f"define internal void {device_symbol(self._function.name)}"
            f"(ptr %ctx, i32 %lt, i32 %tx, i32 %ty, i32 %tz{pointers}) #0 {{",
            "pre:",
            *self.register_slots(),
            *self.prologue,
            "  br label %L0",
            *self.lines,
            "}",
        ]

    def leave(self) -> None:
        """Returns to the caller, which tests for a fault."""
        self.line("ret void")

    def is_private(self, name: str) -> bool:
        """Whether a symbol is a parameter or local variable of this function."""
        return name in self._parameters or name in self._locals

    def private_pointer(self, name: str) -> str:
        """Returns the pointer to a parameter or local variable of this function."""
        if name in self._parameters:
            return self._parameters[name]
        return stack_variable(self, name, self._locals)


def stack_variable(em: Emitter, name: str, variables: Mapping[str, Variable]) -> str:
    """Returns the pointer to a local variable on the host's stack."""
    variable = variables[name]
    size, align = max(variable.size, 1), max(variable.align, 8)
    return em.once(("local", name), f"alloca [{size} x i8], align {align}")


def end_block(em: Emitter, block: Block, labels: Mapping[str, str]) -> None:
    """Writes a terminator that does not synchronise."""
    match block.terminator:
        case Jump(target):
            em.branch(labels[target])
        case Branch(predicate, then, otherwise):
            condition = em.get(Register(predicate), "i1")
            em.branch_if(condition, labels[then], labels[otherwise])
        case Switch(operand, targets):
            value = em.get(operand, "i32")
            cases = " ".join(
                f"i32 {i}, label %{labels[t]}" for i, t in enumerate(targets)
            )
            em.line(f"switch i32 {value}, label %{labels[targets[-1]]} [{cases}]")
        case _:
            em.leave()
