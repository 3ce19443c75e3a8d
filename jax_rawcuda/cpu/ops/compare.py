"""Comparison and selection."""

from __future__ import annotations

from ..emit.emitter import Emitter
from ..llvm_types import FLOAT_TYPES, LLVM_TYPES, is_signed
from ..ptx.instruction import Instruction, require
from ..ptx.operands import Operand, Pair, Sink
from .common import Handler, join
from .floating import floats, halves, library

_FLOAT_ORDERS = {
    "eq": "oeq",
    "ne": "one",
    "lt": "olt",
    "le": "ole",
    "gt": "ogt",
    "ge": "oge",
    "equ": "ueq",
    "neu": "une",
    "ltu": "ult",
    "leu": "ule",
    "gtu": "ugt",
    "geu": "uge",
    "num": "ord",
    "nan": "uno",
}
_UNSIGNED_ORDERS = {
    "eq": "eq",
    "ne": "ne",
    "lt": "ult",
    "le": "ule",
    "gt": "ugt",
    "ge": "uge",
    "lo": "ult",
    "ls": "ule",
    "hi": "ugt",
    "hs": "uge",
}
_SIGNED_ORDERS = {
    "eq": "eq",
    "ne": "ne",
    "lt": "slt",
    "le": "sle",
    "gt": "sgt",
    "ge": "sge",
}
_BOOLEANS = ("and", "or", "xor")


def _orders(ptx_type: str) -> dict[str, str]:
    if ptx_type in FLOAT_TYPES:
        return _FLOAT_ORDERS
    return _SIGNED_ORDERS if is_signed(ptx_type) else _UNSIGNED_ORDERS


def _compare(em: Emitter, inst: Instruction) -> list[str]:
    """Compares two sources lane by lane; returns i1 values."""
    ptx_type, operator = inst.type, inst.modifiers[0]
    order = _orders(ptx_type).get(operator)
    if order is None:
        raise em.unsupported(inst, f".{operator} is not an operator of .{ptx_type}")
    require(inst, operator, *_BOOLEANS, "ftz")
    if ptx_type in halves.TYPES:
        columns = [_wide_lanes(em, inst, operand) for operand in inst.operands[1:3]]
        return [
            em.op(f"fcmp {order} float {a}, {b}") for a, b in zip(*columns, strict=True)
        ]
    kind, signed = LLVM_TYPES[ptx_type], is_signed(ptx_type)
    a, b = (em.get(operand, kind, signed) for operand in inst.operands[1:3])
    if ptx_type in FLOAT_TYPES:
        if inst.has("ftz"):
            a, b = floats.flush(em, kind, a), floats.flush(em, kind, b)
        return [em.op(f"fcmp {order} {kind} {a}, {b}")]
    return [em.op(f"icmp {order} {kind} {a}, {b}")]


def _wide_lanes(em: Emitter, inst: Instruction, operand: Operand) -> list[str]:
    kind = halves.format_of(inst.type)
    values = halves.read(em, operand, inst.type)
    if inst.has("ftz"):
        values = [library.invoke(em, f"jrc.ftz.{kind}", value) for value in values]
    return [library.invoke(em, f"jrc.widen.{kind}", value) for value in values]


def _combine(em: Emitter, inst: Instruction, values: list[str]) -> list[str]:
    word = inst.pick(*_BOOLEANS)
    if word is None:
        return values
    predicate = em.get(inst.operands[3], "i1")
    return [em.op(f"{word} i1 {value}, {predicate}") for value in values]


def _setp(em: Emitter, inst: Instruction) -> None:
    values = _compare(em, inst)
    destination = inst.operands[0]
    if len(values) == 1 and isinstance(destination, Pair):
        values.append(em.op(f"xor i1 {values[0]}, true"))
    values = _combine(em, inst, values)
    if isinstance(destination, Pair):
        em.set(destination.first, "i1", values[0])
        em.set(destination.second, "i1", values[1])
    elif len(values) == 1:
        em.set(destination, "i1", values[0])
    elif not isinstance(destination, Sink):
        raise em.unsupported(inst, "a packed comparison needs two results")


# What `set` writes for true, per 16-bit or wider destination type.
_TRUE_16 = {"f16": 0x3C00, "bf16": 0x3F80}


def _set(em: Emitter, inst: Instruction) -> None:
    values = _combine(em, inst, _compare(em, inst))
    result = inst.types[-2]
    destination = inst.operands[0]
    if result == "f32":
        em.set(destination, "float", em.op(f"uitofp i1 {values[0]} to float"))
        return
    width = 32 if len(values) == 1 and result in ("u32", "s32") else 16
    true = _TRUE_16.get(halves.format_of(result), -1)
    parts = [
        em.op(f"select i1 {value}, i{width} {true}, i{width} 0") for value in values
    ]
    em.set(destination, f"i{width * len(parts)}", join(em, parts, width), True)


def _selp(em: Emitter, inst: Instruction) -> None:
    require(inst)
    kind = LLVM_TYPES[inst.type]
    a, b = (em.get(operand, kind) for operand in inst.operands[1:3])
    predicate = em.get(inst.operands[3], "i1")
    value = em.op(f"select i1 {predicate}, {kind} {a}, {kind} {b}")
    em.set(inst.operands[0], kind, value)


def _slct(em: Emitter, inst: Instruction) -> None:
    require(inst, "ftz")
    kind, selector = LLVM_TYPES[inst.types[-2]], LLVM_TYPES[inst.type]
    a, b = (em.get(operand, kind) for operand in inst.operands[1:3])
    c = em.get(inst.operands[3], selector)
    if selector == "float":
        if inst.has("ftz"):
            c = floats.flush(em, selector, c)
        choice = em.op(f"fcmp oge float {c}, 0.0")
    else:
        choice = em.op(f"icmp sge {selector} {c}, 0")
    value = em.op(f"select i1 {choice}, {kind} {a}, {kind} {b}")
    em.set(inst.operands[0], kind, value)


OPCODES: dict[str, Handler] = {
    "setp": _setp,
    "set": _set,
    "selp": _selp,
    "slct": _slct,
}
