"""Logic, shifts, counting and permutation of bits."""

from __future__ import annotations

from .._types import LLVM_TYPES, WIDTHS, is_signed
from ..emitter import Emitter
from ..operands import Instruction, Integer, Operand, Pair
from ._common import Handler, require


def _minimum(em: Emitter, value: str, limit: int) -> str:
    return em.intrinsic("llvm.umin.i32", "i32", ("i32", value), ("i32", str(limit)))


# Logic


def _logic(word: str) -> Handler:
    def emit(em: Emitter, inst: Instruction) -> None:
        require(em, inst)
        kind = LLVM_TYPES[inst.type]
        a, b = (em.get(operand, kind) for operand in inst.operands[1:3])
        em.set(inst.operands[0], kind, em.op(f"{word} {kind} {a}, {b}"))

    return emit


def _not(em: Emitter, inst: Instruction) -> None:
    require(em, inst)
    kind = LLVM_TYPES[inst.type]
    ones = "true" if kind == "i1" else "-1"
    value = em.op(f"xor {kind} {em.get(inst.operands[1], kind)}, {ones}")
    em.set(inst.operands[0], kind, value)


def _cnot(em: Emitter, inst: Instruction) -> None:
    require(em, inst)
    kind = LLVM_TYPES[inst.type]
    zero = em.op(f"icmp eq {kind} {em.get(inst.operands[1], kind)}, 0")
    em.set(inst.operands[0], kind, em.op(f"zext i1 {zero} to {kind}"))


def _lop3(em: Emitter, inst: Instruction) -> None:
    require(em, inst, "or", "and", "xor")
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


def _amount(em: Emitter, value: str, kind: str) -> str:
    return em.convert(value, "i32", kind)


def _shift(word: str) -> Handler:
    """Shifts by at least the width give 0, or the sign."""

    def emit(em: Emitter, inst: Instruction) -> None:
        require(em, inst)
        kind, signed = LLVM_TYPES[inst.type], is_signed(inst.type)
        value = em.get(inst.operands[1], kind, signed)
        count = em.get(inst.operands[2], "i32")
        limit = WIDTHS[kind] - 1
        amount = _amount(em, _minimum(em, count, limit), kind)
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
    require(em, inst, "l", "r", "wrap", "clamp")
    low, high, count = (em.get(operand, "i32") for operand in inst.operands[1:4])
    if inst.has("wrap"):
        name = "llvm.fshl.i32" if inst.has("l") else "llvm.fshr.i32"
        result = em.intrinsic(name, "i32", ("i32", high), ("i32", low), ("i32", count))
    else:
        amount = em.convert(_minimum(em, count, 32), "i32", "i64")
        whole = _two_words(em, low, high)
        if inst.has("l"):
            whole = em.op(f"shl i64 {whole}, {amount}")
            whole = em.op(f"lshr i64 {whole}, 32")
        else:
            whole = em.op(f"lshr i64 {whole}, {amount}")
        result = em.op(f"trunc i64 {whole} to i32")
    em.set(inst.operands[0], "i32", result)


def _two_words(em: Emitter, low: str, high: str) -> str:
    low, high = (em.op(f"zext i32 {word} to i64") for word in (low, high))
    return em.op(f"or i64 {em.op(f'shl i64 {high}, 32')}, {low}")


# Counting


def _count(name: str, *flags: tuple[str, str]) -> Handler:
    def emit(em: Emitter, inst: Instruction) -> None:
        require(em, inst)
        kind = LLVM_TYPES[inst.type]
        source = em.get(inst.operands[1], kind)
        value = em.intrinsic(f"llvm.{name}.{kind}", kind, (kind, source), *flags)
        em.set(inst.operands[0], "i32", em.convert(value, kind, "i32"))

    return emit


def _reverse(em: Emitter, inst: Instruction) -> None:
    require(em, inst)
    kind = LLVM_TYPES[inst.type]
    source = em.get(inst.operands[1], kind)
    value = em.intrinsic(f"llvm.bitreverse.{kind}", kind, (kind, source))
    em.set(inst.operands[0], kind, value)


def _find(em: Emitter, inst: Instruction) -> None:
    """Position of the highest bit that differs from the sign, or all ones."""
    require(em, inst, "shiftamt")
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
    require(em, inst)
    sources = [("i32", em.get(operand, "i32")) for operand in inst.operands[1:4]]
    em.set(inst.operands[0], "i32", em.intrinsic("jrc_fns", "i32", *sources))


# Fields


def _byte(em: Emitter, operand: Operand) -> str:
    return em.op(f"and i32 {em.get(operand, 'i32')}, 255")


def _extract(em: Emitter, inst: Instruction) -> None:
    """Bits beyond the word read as 0, or as the sign."""
    require(em, inst)
    kind, signed = LLVM_TYPES[inst.type], is_signed(inst.type)
    width = WIDTHS[kind]
    verb = "ashr" if signed else "lshr"
    source = em.get(inst.operands[1], kind)
    position, length = (_byte(em, operand) for operand in inst.operands[2:4])
    amount = _amount(em, _minimum(em, position, width - 1), kind)
    value = em.op(f"{verb} {kind} {source}, {amount}")
    if not signed:
        beyond = em.op(f"icmp ugt i32 {position}, {width - 1}")
        value = em.op(f"select i1 {beyond}, {kind} 0, {kind} {value}")
    gap = em.op(f"sub i32 {width}, {_minimum(em, length, width)}")
    gap = _amount(em, em.op(f"and i32 {gap}, {width - 1}"), kind)
    value = em.op(f"shl {kind} {value}, {gap}")
    value = em.op(f"{verb} {kind} {value}, {gap}")
    empty = em.op(f"icmp eq i32 {length}, 0")
    value = em.op(f"select i1 {empty}, {kind} 0, {kind} {value}")
    em.set(inst.operands[0], kind, value)


def _mask(em: Emitter, position: str, length: str, kind: str) -> tuple[str, str]:
    """Returns `length` ones from `position` on, and the safe shift amount."""
    width = WIDTHS[kind]
    gap = em.op(f"sub i32 {width}, {_minimum(em, length, width)}")
    gap = _amount(em, em.op(f"and i32 {gap}, {width - 1}"), kind)
    amount = _amount(em, em.op(f"and i32 {position}, {width - 1}"), kind)
    ones = em.op(f"lshr {kind} -1, {gap}")
    field = em.op(f"shl {kind} {ones}, {amount}")
    empty = em.op(f"icmp eq i32 {length}, 0")
    beyond = em.op(f"icmp ugt i32 {position}, {width - 1}")
    nothing = em.op(f"or i1 {empty}, {beyond}")
    return em.op(f"select i1 {nothing}, {kind} 0, {kind} {field}"), amount


def _insert(em: Emitter, inst: Instruction) -> None:
    require(em, inst)
    kind = LLVM_TYPES[inst.type]
    a, b = (em.get(operand, kind) for operand in inst.operands[1:3])
    position, length = (_byte(em, operand) for operand in inst.operands[3:5])
    mask, amount = _mask(em, position, length, kind)
    new = em.op(f"and {kind} {em.op(f'shl {kind} {a}, {amount}')}, {mask}")
    old = em.op(f"and {kind} {b}, {em.op(f'xor {kind} {mask}, -1')}")
    em.set(inst.operands[0], kind, em.op(f"or {kind} {old}, {new}"))


def _make_mask(em: Emitter, inst: Instruction) -> None:
    require(em, inst, "clamp", "wrap")
    position, length = (em.get(operand, "i32") for operand in inst.operands[1:3])
    if inst.has("wrap"):
        position, length = (em.op(f"and i32 {v}, 31") for v in (position, length))
    mask, _ = _mask(em, position, length, "i32")
    em.set(inst.operands[0], "i32", mask)


def _extend(em: Emitter, inst: Instruction) -> None:
    require(em, inst, "clamp", "wrap")
    value, count = (em.get(operand, "i32") for operand in inst.operands[1:3])
    if inst.has("wrap"):
        count = em.op(f"and i32 {count}, 31")
    verb = "ashr" if is_signed(inst.type) else "lshr"
    gap = em.op(f"sub i32 32, {_minimum(em, count, 32)}")
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
    require(em, inst, *_PERMUTATIONS)
    a, b, selector = (em.get(operand, "i32") for operand in inst.operands[1:4])
    if (mode := inst.pick(*_PERMUTATIONS)) is not None:
        selector = _mode_selector(em, _PERMUTATIONS[mode], selector)
    words, result = _two_words(em, a, b), "0"
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
    "bfe": _extract,
    "bfi": _insert,
    "bmsk": _make_mask,
    "szext": _extend,
    "prmt": _permute,
}
