"""Calls of device functions.

Parameters and results pass through the caller's parameter memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from .emitter import Emitter, unsupported
from .operands import Arguments, Instruction, Operand, Register, Symbol
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
