"""Bit fields: extraction, insertion, masks, and permutation of bytes."""

from __future__ import annotations

from ..emit.emitter import Emitter
from ..llvm_types import LLVM_TYPES, WIDTHS, is_signed
from ..ptx.instruction import Instruction, require
from ..ptx.operands import Operand
from .bits import minimum, two_words
from .common import Handler


def _amount(em: Emitter, value: str, kind: str) -> str:
    return em.convert(value, "i32", kind)


def _byte(em: Emitter, operand: Operand) -> str:
    return em.op(f"and i32 {em.get(operand, 'i32')}, 255")


def _word(em: Emitter, operand: Operand) -> str:
    return em.get(operand, "i32")


def _extract(em: Emitter, inst: Instruction) -> None:
    """Bits beyond the word read as 0, or as the sign."""
    require(inst)
    kind, signed = LLVM_TYPES[inst.type], is_signed(inst.type)
    width = WIDTHS[kind]
    verb = "ashr" if signed else "lshr"
    source = em.get(inst.operands[1], kind)
    # The device reads one byte of them, but all of them for 64-bit values.
    read = _byte if width == 32 else _word
    position, length = (read(em, operand) for operand in inst.operands[2:4])
    amount = _amount(em, minimum(em, position, width - 1), kind)
    value = em.op(f"{verb} {kind} {source}, {amount}")
    if not signed:
        beyond = em.op(f"icmp ugt i32 {position}, {width - 1}")
        value = em.op(f"select i1 {beyond}, {kind} 0, {kind} {value}")
    gap = em.op(f"sub i32 {width}, {minimum(em, length, width)}")
    gap = _amount(em, em.op(f"and i32 {gap}, {width - 1}"), kind)
    value = em.op(f"shl {kind} {value}, {gap}")
    value = em.op(f"{verb} {kind} {value}, {gap}")
    empty = em.op(f"icmp eq i32 {length}, 0")
    value = em.op(f"select i1 {empty}, {kind} 0, {kind} {value}")
    em.set(inst.operands[0], kind, value)


def _mask(em: Emitter, position: str, length: str, kind: str) -> tuple[str, str]:
    """Returns `length` ones from `position` on, and the safe shift amount."""
    width = WIDTHS[kind]
    gap = em.op(f"sub i32 {width}, {minimum(em, length, width)}")
    gap = _amount(em, em.op(f"and i32 {gap}, {width - 1}"), kind)
    amount = _amount(em, em.op(f"and i32 {position}, {width - 1}"), kind)
    ones = em.op(f"lshr {kind} -1, {gap}")
    field = em.op(f"shl {kind} {ones}, {amount}")
    empty = em.op(f"icmp eq i32 {length}, 0")
    beyond = em.op(f"icmp ugt i32 {position}, {width - 1}")
    nothing = em.op(f"or i1 {empty}, {beyond}")
    return em.op(f"select i1 {nothing}, {kind} 0, {kind} {field}"), amount


def _insert(em: Emitter, inst: Instruction) -> None:
    require(inst)
    kind = LLVM_TYPES[inst.type]
    a, b = (em.get(operand, kind) for operand in inst.operands[1:3])
    position, length = (_byte(em, operand) for operand in inst.operands[3:5])
    mask, amount = _mask(em, position, length, kind)
    new = em.op(f"and {kind} {em.op(f'shl {kind} {a}, {amount}')}, {mask}")
    old = em.op(f"and {kind} {b}, {em.op(f'xor {kind} {mask}, -1')}")
    em.set(inst.operands[0], kind, em.op(f"or {kind} {old}, {new}"))


def _make_mask(em: Emitter, inst: Instruction) -> None:
    require(inst, "clamp", "wrap")
    position, length = (em.get(operand, "i32") for operand in inst.operands[1:3])
    if inst.has("wrap"):
        position, length = (em.op(f"and i32 {v}, 31") for v in (position, length))
    mask, _ = _mask(em, position, length, "i32")
    em.set(inst.operands[0], "i32", mask)


def _extend(em: Emitter, inst: Instruction) -> None:
    require(inst, "clamp", "wrap")
    value, count = (em.get(operand, "i32") for operand in inst.operands[1:3])
    if inst.has("wrap"):
        count = em.op(f"and i32 {count}, 31")
    verb = "ashr" if is_signed(inst.type) else "lshr"
    gap = em.op(f"sub i32 32, {minimum(em, count, 32)}")
    gap = em.op(f"and i32 {gap}, 31")
    cut = em.op(f"{verb} i32 {em.op(f'shl i32 {value}, {gap}')}, {gap}")
    empty = em.op(f"icmp eq i32 {count}, 0")
    em.set(inst.operands[0], "i32", em.op(f"select i1 {empty}, i32 0, i32 {cut}"))


# Permutation of bytes: per mode, the selectors that the third operand chooses from.
_PERMUTATIONS = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}


def _permute(em: Emitter, inst: Instruction) -> None:
    require(inst, *_PERMUTATIONS)
    a, b, selector = (em.get(operand, "i32") for operand in inst.operands[1:4])
    if (mode := inst.pick(*_PERMUTATIONS)) is not None:
        selector = _mode_selector(em, _PERMUTATIONS[mode], selector)
    words, result = two_words(em, a, b), "0"
    for index in range(4):
        code = em.op(f"lshr i32 {selector}, {4 * index}")
        amount = em.op(f"shl i32 {em.op(f'and i32 {code}, 7')}, 3")
        byte = em.op(f"lshr i64 {words}, {em.convert(amount, 'i32', 'i64')}")
        byte = em.op(f"trunc i64 {byte} to i8")
        sign = em.op(f"ashr i8 {byte}, 7")
        replicate = em.op(f"icmp ne i32 {em.op(f'and i32 {code}, 8')}, 0")
        byte = em.op(f"select i1 {replicate}, i8 {sign}, i8 {byte}")
        part = em.op(f"shl i32 {em.convert(byte, 'i8', 'i32')}, {8 * index}")
        result = em.op(f"or i32 {result}, {part}")
    em.set(inst.operands[0], "i32", result)


def _mode_selector(em: Emitter, selectors: tuple[int, ...], control: str) -> str:
    table = sum(selector << 16 * i for i, selector in enumerate(selectors))
    signed = table - (1 << 64) if table >> 63 else table
    amount = em.op(f"shl i32 {em.op(f'and i32 {control}, 3')}, 4")
    chosen = em.op(f"lshr i64 {signed}, {em.convert(amount, 'i32', 'i64')}")
    return em.op(f"trunc i64 {chosen} to i32")


OPCODES: dict[str, Handler] = {
    "bfe": _extract,
    "bfi": _insert,
    "bmsk": _make_mask,
    "szext": _extend,
    "prmt": _permute,
}
