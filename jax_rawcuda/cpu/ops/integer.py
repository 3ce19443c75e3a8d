"""Integer arithmetic."""

from __future__ import annotations

from ..emit.emitter import Emitter
from ..llvm_types import LLVM_TYPES, SUFFIXES, WIDTHS, is_signed
from ..ptx.instruction import Instruction, require
from ..ptx.operands import CARRY, Integer, Operand
from .common import Handler

TYPES = frozenset(
    {"u16", "s16", "u32", "s32", "u64", "s64", "u16x2", "s16x2", "b32", "b64"}
)


def _sources(
    em: Emitter, inst: Instruction, *operands: Operand
) -> tuple[str, list[str]]:
    """Returns the LLVM type and the source values, of the instruction's type."""
    kind = LLVM_TYPES[inst.type]
    signed = is_signed(inst.type)
    chosen = operands or inst.operands[1:]
    return kind, [em.get(operand, kind, signed) for operand in chosen]


def _set(em: Emitter, inst: Instruction, kind: str, value: str) -> None:
    em.set(inst.operands[0], kind, value, is_signed(inst.type))


def _add_or_subtract(word: str) -> Handler:
    def emit(em: Emitter, inst: Instruction) -> None:
        require(inst, "sat", "cc")
        kind, (a, b) = _sources(em, inst)
        if inst.has("sat"):
            name = f"llvm.s{word}.sat.{SUFFIXES.get(kind, kind)}"
            value = em.intrinsic(name, kind, (kind, a), (kind, b))
        elif inst.has("cc"):
            value = _carry_chain(em, inst, word, kind, a, b)
        else:
            value = em.op(f"{word} {kind} {a}, {b}")
        _set(em, inst, kind, value)

    return emit


def _carry_chain(
    em: Emitter, inst: Instruction, word: str, kind: str, a: str, b: str
) -> str:
    """Adds or subtracts, with the carry as the modifiers ask."""
    width = WIDTHS[kind]
    wide = f"i{2 * width}"
    parts = [em.op(f"zext {kind} {value} to {wide}") for value in (a, b)]
    total = em.op(f"{word} {wide} {parts[0]}, {parts[1]}")
    if inst.opcode.endswith("c"):
        carry = em.op(f"zext i1 {em.get(CARRY, 'i1')} to {wide}")
        total = em.op(f"{word} {wide} {total}, {carry}")
    if inst.has("cc"):
        high = em.op(f"lshr {wide} {total}, {width}")
        em.set(CARRY, "i1", em.op(f"trunc {wide} {high} to i1"))
    return em.op(f"trunc {wide} {total} to {kind}")


def _with_carry(word: str) -> Handler:
    def emit(em: Emitter, inst: Instruction) -> None:
        require(inst, "cc")
        kind, (a, b) = _sources(em, inst)
        _set(em, inst, kind, _carry_chain(em, inst, word, kind, a, b))

    return emit


def _product(em: Emitter, inst: Instruction) -> tuple[str, str]:
    """Multiplies the first two sources; returns the LLVM type and the value."""
    kind, (a, b) = _sources(em, inst, *inst.operands[1:3])
    if inst.has("lo"):
        return kind, em.op(f"mul {kind} {a}, {b}")
    width = WIDTHS[kind]
    wide = f"i{2 * width}"
    extend = "sext" if is_signed(inst.type) else "zext"
    a, b = (em.op(f"{extend} {kind} {value} to {wide}") for value in (a, b))
    product = em.op(f"mul {wide} {a}, {b}")
    if inst.has("wide"):
        return wide, product
    if not inst.has("hi"):
        raise em.unsupported(inst, "one of .lo, .hi, .wide is required")
    high = em.op(f"lshr {wide} {product}, {width}")
    return kind, em.op(f"trunc {wide} {high} to {kind}")


def _mul(em: Emitter, inst: Instruction) -> None:
    require(inst, "lo", "hi", "wide")
    kind, value = _product(em, inst)
    _set(em, inst, kind, value)


def _mad(em: Emitter, inst: Instruction) -> None:
    require(inst, "lo", "hi", "wide", "cc", "sat")
    kind, product = _product(em, inst)
    addend = em.get(inst.operands[3], kind, is_signed(inst.type))
    if inst.has("sat"):
        name = f"llvm.sadd.sat.{kind}"
        value = em.intrinsic(name, kind, (kind, product), (kind, addend))
    elif inst.has("cc") or inst.opcode == "madc":
        value = _carry_chain(em, inst, "add", kind, product, addend)
    else:
        value = em.op(f"add {kind} {product}, {addend}")
    _set(em, inst, kind, value)


def _product24(em: Emitter, inst: Instruction) -> str:
    """Multiplies the low 24 bits; .hi takes bits 16 to 47 of the product."""
    require(inst, "lo", "hi", "sat")
    shift = "ashr" if is_signed(inst.type) else "lshr"
    values = []
    for operand in inst.operands[1:3]:
        value = em.convert(em.get(operand, "i32"), "i32", "i64")
        value = em.op(f"shl i64 {value}, 40")
        values.append(em.op(f"{shift} i64 {value}, 40"))
    product = em.op(f"mul i64 {values[0]}, {values[1]}")
    if inst.has("hi"):
        product = em.op(f"lshr i64 {product}, 16")
    return em.op(f"trunc i64 {product} to i32")


def _mul24(em: Emitter, inst: Instruction) -> None:
    _set(em, inst, "i32", _product24(em, inst))


def _mad24(em: Emitter, inst: Instruction) -> None:
    product, addend = _product24(em, inst), em.get(inst.operands[3], "i32")
    if inst.has("sat"):
        pair = (("i32", product), ("i32", addend))
        value = em.intrinsic("llvm.sadd.sat.i32", "i32", *pair)
    else:
        value = em.op(f"add i32 {product}, {addend}")
    _set(em, inst, "i32", value)


def _divide(word: str) -> Handler:
    """Division that never traps: see `_guarded`."""

    def emit(em: Emitter, inst: Instruction) -> None:
        require(inst)
        kind, (a, b) = _sources(em, inst)
        sign = "s" if is_signed(inst.type) else "u"
        divisor = inst.operands[2]
        if isinstance(divisor, Integer) and divisor.value not in (0, -1):
            value = em.op(f"{sign}{word} {kind} {a}, {b}")
        else:
            value = _guarded(em, sign, word, kind, a, b)
        _set(em, inst, kind, value)

    return emit


def _guarded(em: Emitter, sign: str, word: str, kind: str, a: str, b: str) -> str:
    """As the device: x/0 is all ones, x%0 is x, and MIN/-1 is MIN."""
    zero = em.op(f"icmp eq {kind} {b}, 0")
    bad = zero
    if sign == "s":
        minus = em.op(f"icmp eq {kind} {b}, -1")
        bad = em.op(f"or i1 {zero}, {minus}")
    safe = em.op(f"select i1 {bad}, {kind} 1, {kind} {b}")
    value = em.op(f"{sign}{word} {kind} {a}, {safe}")
    if sign == "s" and word == "div":
        negated = em.op(f"sub {kind} 0, {a}")
        value = em.op(f"select i1 {minus}, {kind} {negated}, {kind} {value}")
    by_zero = "-1" if word == "div" else a
    return em.op(f"select i1 {zero}, {kind} {by_zero}, {kind} {value}")


def _neg(em: Emitter, inst: Instruction) -> None:
    require(inst)
    kind, (a,) = _sources(em, inst)
    _set(em, inst, kind, em.op(f"sub {kind} 0, {a}"))


def _abs(em: Emitter, inst: Instruction) -> None:
    require(inst)
    kind, (a,) = _sources(em, inst)
    value = em.intrinsic(f"llvm.abs.{kind}", kind, (kind, a), ("i1", "false"))
    _set(em, inst, kind, value)


def _extreme(word: str) -> Handler:
    def emit(em: Emitter, inst: Instruction) -> None:
        require(inst, "relu")
        kind, (a, *rest) = _sources(em, inst)
        suffix = SUFFIXES.get(kind, kind)
        sign = "s" if is_signed(inst.type) else "u"
        for b in rest:
            name = f"llvm.{sign}{word}.{suffix}"
            a = em.intrinsic(name, kind, (kind, a), (kind, b))
        if inst.has("relu"):
            zero = (kind, "zeroinitializer" if kind[0] == "<" else "0")
            a = em.intrinsic(f"llvm.smax.{suffix}", kind, (kind, a), zero)
        _set(em, inst, kind, a)

    return emit


def _sad(em: Emitter, inst: Instruction) -> None:
    require(inst)
    kind, (a, b, c) = _sources(em, inst)
    order = "sgt" if is_signed(inst.type) else "ugt"
    greater = em.op(f"icmp {order} {kind} {a}, {b}")
    forward, backward = em.op(f"sub {kind} {a}, {b}"), em.op(f"sub {kind} {b}, {a}")
    distance = em.op(f"select i1 {greater}, {kind} {forward}, {kind} {backward}")
    _set(em, inst, kind, em.op(f"add {kind} {distance}, {c}"))


def _dot(count: int, width: int) -> Handler:
    """`count` products of elements of `width` bits in a with bytes in b."""

    def emit(em: Emitter, inst: Instruction) -> None:
        require(inst, "lo", "hi")
        first_byte = count if inst.has("hi") else 0
        a, b, total = (em.get(operand, "i32") for operand in inst.operands[1:4])
        for index in range(count):
            x = _element(em, a, index * width, width, inst.types[0])
            y = _element(em, b, (first_byte + index) * 8, 8, inst.types[1])
            total = em.op(f"add i32 {total}, {em.op(f'mul i32 {x}, {y}')}")
        em.set(inst.operands[0], "i32", total)

    return emit


def _element(em: Emitter, word: str, shift: int, width: int, ptx_type: str) -> str:
    part = em.op(f"lshr i32 {word}, {shift}")
    part = em.op(f"trunc i32 {part} to i{width}")
    return em.convert(part, f"i{width}", "i32", is_signed(ptx_type))


OPCODES: dict[str, Handler] = {
    "add": _add_or_subtract("add"),
    "sub": _add_or_subtract("sub"),
    "addc": _with_carry("add"),
    "subc": _with_carry("sub"),
    "mul": _mul,
    "mad": _mad,
    "madc": _mad,
    "mul24": _mul24,
    "mad24": _mad24,
    "div": _divide("div"),
    "rem": _divide("rem"),
    "neg": _neg,
    "abs": _abs,
    "min": _extreme("min"),
    "max": _extreme("max"),
    "sad": _sad,
    "dp4a": _dot(4, 8),
    "dp2a": _dot(2, 16),
}
