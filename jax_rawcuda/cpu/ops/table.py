"""All instruction families in one table."""

from __future__ import annotations

from ..emit.emitter import Emitter
from ..ptx.instruction import Instruction
from . import (
    asynchronous,
    atomics,
    bits,
    compare,
    control,
    fields,
    integer,
    matrices,
    memory,
    refused,
)
from .common import Handler
from .floating import approx, convert, floats, halves

# Arithmetic opcodes exist in several families, told apart by the instruction's type.
_TYPED = (
    (integer.TYPES, integer.OPCODES),
    (floats.TYPES, floats.OPCODES),
    (halves.TYPES, halves.OPCODES),
)
_UNTYPED = (
    approx.OPCODES,
    asynchronous.OPCODES,
    atomics.OPCODES,
    bits.OPCODES,
    compare.OPCODES,
    control.OPCODES,
    convert.OPCODES,
    fields.OPCODES,
    matrices.OPCODES,
    memory.OPCODES,
    refused.OPCODES,
)


def _by_type(opcode: str) -> Handler:
    handlers = {
        ptx_type: table[opcode]
        for types, table in _TYPED
        if opcode in table
        for ptx_type in types
    }

    def emit(em: Emitter, inst: Instruction) -> None:
        handler = handlers.get(inst.type) if inst.types else None
        if handler is None:
            raise em.unsupported(inst)
        handler(em, inst)

    return emit


def _merge() -> dict[str, Handler]:
    merged = {opcode: _by_type(opcode) for _, table in _TYPED for opcode in table}
    for table in _UNTYPED:
        if clash := merged.keys() & table.keys():
            raise RuntimeError(f"opcodes in two families: {sorted(clash)}")
        merged.update(table)
    return merged


OPCODES: dict[str, Handler] = _merge()
