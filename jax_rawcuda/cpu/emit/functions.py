"""Device functions without synchronisation, as ordinary LLVM functions."""

from __future__ import annotations

from collections.abc import Mapping

from ..analysis.graph import Block, Branch, Jump, Poll, Switch, build
from ..check.facts import NO_FACTS, access_facts
from ..ptx.module import Function
from ..ptx.operands import CARRY, Operand, Register
from ..ptx.variable import Variable
from ..transforms.polls import add_polls
from . import guards, polls
from .emitter import Emitter
from .state import ModuleState
from .variables import device_symbol


class FunctionEmitter(Emitter):
    """Writes one device function.

    Parameters and results are pointers to the caller's parameter memory.
    """

    def __init__(self, state: ModuleState, function: Function) -> None:
        body = function.body
        self._graph = build(body.statements, body.targets)
        facts = NO_FACTS
        if state.checked:
            facts = access_facts(body.statements, self._graph)
        super().__init__(state, {**body.registers, CARRY.name: "pred"}, facts)
        self._function = function
        self._parameters = {
            variable.name: f"%p{index}"
            for index, variable in enumerate((*function.results, *function.parameters))
        }
        self._locals = {v.name: v for v in body.variables if v.space != "shared"}

    def write(self) -> None:
        """Adds the function to the translation."""
        graph = self._graph
        add_polls(graph)
        labels = {label: f"L{index}" for index, label in enumerate(graph.blocks)}
        self.label("enter")
        if self._function.name in self.state.deep:
            polls.write_stack_check(self, self._function)
        self.branch("L0")
        for label, block in graph.blocks.items():
            self.label(labels[label])
            for inst in block.instructions:
                self.emit(inst)
            end_block(self, block, labels)
        pointers = "".join(f", ptr {name}" for name in self._parameters.values())
        kept = "noinline " if self._function.name in self.state.kept else ""
        self.state.functions += [
            f"define internal void {device_symbol(self._function.name)}"
            f"(ptr %ctx, i32 %lt, i32 %tx, i32 %ty, i32 %tz{pointers}) {kept}#0 {{",
            "pre:",
            *self.register_slots(),
            *(guards.enter_function(self) if self.state.checked else ()),
            *self.prologue,
            *(self._push_variables() if self.state.checked else ()),
            "  br label %enter",
            *self.lines,
            "}",
        ]

    def leave(self) -> None:
        """Returns to the caller, which tests for a fault."""
        if self.state.checked:
            guards.leave_function(self)
        self.line("ret void")

    def _push_variables(self) -> list[str]:
        """Returns the lines that make the local variables in use known."""
        self.declare("jrc_check_push", "void", "ptr", "ptr", "i64")
        used = [
            (self._once[key], max(variable.size, 1))
            for name, variable in self._locals.items()
            if (key := ("local", name)) in self._once
        ]
        return [
            f"  call void @jrc_check_push(ptr %ctx, ptr {value}, i64 {size})"
            for value, size in used
        ]

    def is_private(self, name: str) -> bool:
        """Whether a symbol is a parameter or local variable of this function."""
        return name in self._parameters or name in self._locals

    def origin(self, base: Operand) -> str:
        """Returns the variable that an address points into, if others may know it."""
        name = super().origin(base)
        return "" if self.is_private(name) else name

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
        case Poll(target, location):
            polls.write_poll(em, location)
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
