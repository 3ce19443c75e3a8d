"""Device functions without synchronisation, as ordinary LLVM functions."""

from __future__ import annotations

from dataclasses import dataclass

from .emitter import Emitter
from .operands import Instruction, Register, Symbol


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
    raise NotImplementedError


def call_device(em: Emitter, call: Call) -> None:
    """Calls a device function of the same module; ends the thread if it faulted."""
    raise NotImplementedError
