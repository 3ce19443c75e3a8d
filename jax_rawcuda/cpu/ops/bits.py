"""Logic, shifts and counting of bits."""

from __future__ import annotations

from ..emit.emitter import Emitter
from ..llvm_types import LLVM_TYPES, WIDTHS, is_signed
from ..ptx.instruction import Instruction, require
from ..ptx.operands import Integer, Pair
from .common import Handler


def minimum(em: Emitter, value: str, limit: int) -> str:
    """Returns the smaller of an unsigned i32 value and a constant."""
    return em.intrinsic("llvm.umin.i32", "i32", ("i32", value), ("i32", str(limit)))


# Logic


def _logic(word: str) -> Handler:
    def emit(em: Emitter, inst: Instruction) -> None:
        require(inst)
        kind = LLVM_TYPES[inst.type]
        a, b = (em.get(operand, kind) for operand in inst.operands[1:3])
        em.set(inst.operands[0], kind, em.op(f"{word} {kind} {a}, {b}"))

    return emit


def _not(em: Emitter, inst: Instruction) -> None:
    require(inst)
    kind = LLVM_TYPES[inst.type]
    ones = "true" if kind == "i1" else "-1"
    value = em.op(f"xor {kind} {em.get(inst.operands[1], kind)}, {ones}")
    em.set(inst.operands[0], kind, value)


def _cnot(em: Emitter, inst: Instruction) -> None:
    require(inst)
    kind = LLVM_TYPES[inst.type]
    zero = em.op(f"icmp eq {kind} {em.get(inst.operands[1], kind)}, 0")
    em.set(inst.operands[0], kind, em.op(f"zext i1 {zero} to {kind}"))


def _lop3(em: Emitter, inst: Instruction) -> None:
    require(inst, "or", "and", "xor")
    destination, *sources, table = inst.operands[:5]
    if not isinstance(table, Integer):
        raise em.unsupported(inst, "the table must be a constant")
    values = [em.get(operand, "i32") for operand in sources]
    inverses = [em.op(f"xor i32 {value}, -1") for value in values]
    result = "0"
    for row in range(8):
        if not table.value >> row & 1:
            continue
        a, b, c = (values[i] if row >> (2 - i) & 1 else inverses[i] for i in range(3))
        term = em.op(f"and i32 {em.op(f'and i32 {a}, {b}')}, {c}")
        result = em.op(f"or i32 {result}, {term}")
    word = inst.pick("or", "and", "xor")
    if word is None:
        em.set(destination, "i32", result)
        return
    if not isinstance(destination, Pair):
        raise em.unsupported(inst, "the form with a predicate needs two results")
    predicate = em.get(inst.operands[5], "i1")
    nonzero = em.op(f"icmp ne i32 {result}, 0")
    em.set(destination.first, "i32", result)
    em.set(destination.second, "i1", em.op(f"{word} i1 {nonzero}, {predicate}"))


# Shifts


def _shift(word: str) -> Handler:
    """Shifts by at least the width give 0, or the sign."""

    def emit(em: Emitter, inst: Instruction) -> None:
        require(inst)
        kind, signed = LLVM_TYPES[inst.type], is_signed(inst.type)
        value = em.get(inst.operands[1], kind, signed)
        count = em.get(inst.operands[2], "i32")
        limit = WIDTHS[kind] - 1
        amount = em.convert(minimum(em, count, limit), "i32", kind)
        if word == "shr" and signed:
            result = em.op(f"ashr {kind} {value}, {amount}")
        else:
            verb = "shl" if word == "shl" else "lshr"
            shifted = em.op(f"{verb} {kind} {value}, {amount}")
            large = em.op(f"icmp ugt i32 {count}, {limit}")
            result = em.op(f"select i1 {large}, {kind} 0, {kind} {shifted}")
        em.set(inst.operands[0], kind, result, signed)

    return emit


def _funnel(em: Emitter, inst: Instruction) -> None:
    require(inst, "l", "r", "wrap", "clamp")
    low, high, count = (em.get(operand, "i32") for operand in inst.operands[1:4])
    if inst.has("wrap"):
        name = "llvm.fshl.i32" if inst.has("l") else "llvm.fshr.i32"
        result = em.intrinsic(name, "i32", ("i32", high), ("i32", low), ("i32", count))
    else:
        amount = em.convert(minimum(em, count, 32), "i32", "i64")
        whole = two_words(em, low, high)
        if inst.has("l"):
            whole = em.op(f"shl i64 {whole}, {amount}")
            whole = em.op(f"lshr i64 {whole}, 32")
        else:
            whole = em.op(f"lshr i64 {whole}, {amount}")
        result = em.op(f"trunc i64 {whole} to i32")
    em.set(inst.operands[0], "i32", result)


def two_words(em: Emitter, low: str, high: str) -> str:
    """Joins two i32 values into an i64."""
    low, high = (em.op(f"zext i32 {word} to i64") for word in (low, high))
    return em.op(f"or i64 {em.op(f'shl i64 {high}, 32')}, {low}")


# Counting


def _count(name: str, *flags: tuple[str, str]) -> Handler:
    def emit(em: Emitter, inst: Instruction) -> None:
        require(inst)
        kind = LLVM_TYPES[inst.type]
        source = em.get(inst.operands[1], kind)
        value = em.intrinsic(f"llvm.{name}.{kind}", kind, (kind, source), *flags)
        em.set(inst.operands[0], "i32", em.convert(value, kind, "i32"))

    return emit


def _reverse(em: Emitter, inst: Instruction) -> None:
    require(inst)
    kind = LLVM_TYPES[inst.type]
    source = em.get(inst.operands[1], kind)
    value = em.intrinsic(f"llvm.bitreverse.{kind}", kind, (kind, source))
    em.set(inst.operands[0], kind, value)


def _find(em: Emitter, inst: Instruction) -> None:
    """Position of the highest bit that differs from the sign, or all ones."""
    require(inst, "shiftamt")
    kind = LLVM_TYPES[inst.type]
    value, width = em.get(inst.operands[1], kind), WIDTHS[kind]
    if is_signed(inst.type):
        sign = em.op(f"ashr {kind} {value}, {width - 1}")
        value = em.op(f"xor {kind} {value}, {sign}")
    flags = (kind, value), ("i1", "false")
    zeros = em.convert(em.intrinsic(f"llvm.ctlz.{kind}", kind, *flags), kind, "i32")
    if inst.has("shiftamt"):
        none = em.op(f"icmp eq i32 {zeros}, {width}")
        result = em.op(f"select i1 {none}, i32 -1, i32 {zeros}")
    else:
        result = em.op(f"sub i32 {width - 1}, {zeros}")
    em.set(inst.operands[0], "i32", result)


def _nth_set(em: Emitter, inst: Instruction) -> None:
    require(inst)
    sources = [("i32", em.get(operand, "i32")) for operand in inst.operands[1:4]]
    em.set(inst.operands[0], "i32", em.intrinsic("jrc_fns", "i32", *sources))


OPCODES: dict[str, Handler] = {
    "and": _logic("and"),
    "or": _logic("or"),
    "xor": _logic("xor"),
    "not": _not,
    "cnot": _cnot,
    "lop3": _lop3,
    "shl": _shift("shl"),
    "shr": _shift("shr"),
    "shf": _funnel,
    "popc": _count("ctpop"),
    "clz": _count("ctlz", ("i1", "false")),
    "brev": _reverse,
    "bfind": _find,
    "fns": _nth_set,
}
