"""Which integer constants ptxas takes as an operand: barrier numbers, sizes, counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from .instruction import Instruction
from .operands import Integer, Operand, Register

_NO_END = 1 << 32
_NUMBERS = range(-_NO_END, _NO_END)


@dataclass(frozen=True, slots=True)
class _Bound:
    """What an operand may be if it is a constant.

    Attributes:
      name: For messages.
      operand: What is given.
      allowed: A range to `_NO_END` has no end.
      constant: Whether it may not be a register.
    """

    name: str
    operand: Operand
    allowed: range | tuple[int, ...]
    constant: bool = False

    def problem(self) -> str:
        """Says what is wrong, or ""."""
        match self.operand:
            case Integer(value) if value not in self.allowed:
                return f"{self.name} {value}; {_spell(self.allowed)} is allowed"
            case Register(_) if self.constant:
                return f"the {self.name} is a register; a constant is needed"
        return ""


def bounds_problem(inst: Instruction) -> str:
    """Says what ptxas would say of an instruction's constants, "" if nothing."""
    bounds = _BOUNDS.get(inst.opcode)
    problems = (bound.problem() for bound in bounds(inst)) if bounds else ()
    return next(filter(None, problems), "")


def _spell(allowed: range | tuple[int, ...]) -> str:
    if isinstance(allowed, tuple):
        *first, last = map(str, allowed)
        return f"{', '.join(first)} or {last}" if first else last
    if allowed.step == 1 and allowed.stop == _NO_END:
        return f"{allowed.start} or more"
    if allowed.stop == _NO_END:
        start = f" from {allowed.start} on" if allowed.start > 0 else ""
        return f"a multiple of {allowed.step}{start}"
    text = f"{allowed[0]} to {allowed[-1]}"
    return text if allowed.step == 1 else f"a multiple of {allowed.step} from {text}"


def _barrier(inst: Instruction) -> Iterator[_Bound]:
    if inst.has("warp", "cluster", "tile"):
        return
    # .red has a result in front, and a predicate at the end, which is no constant.
    number, *rest = inst.operands[inst.has("red") :]
    yield _Bound("barrier number", number, range(16))
    least = 32 if inst.has("arrive") else -_NO_END
    # Who only arrives must say how many threads there are.
    count = rest[0] if rest else Integer(0)
    yield _Bound("thread count", count, range(least, _NO_END, 32))


def _copy(inst: Instruction) -> Iterator[_Bound]:
    operands = inst.operands
    if inst.has("wait_group"):
        yield _Bound("number of groups", operands[0], _NUMBERS, constant=True)
    elif inst.has("tensor", "mbarrier", "commit_group", "wait_all", "reduce"):
        return
    elif inst.has("bulk"):
        size = operands[1 if inst.has("prefetch") else 2]
        yield _Bound("size", size, range(-_NO_END, _NO_END, 16))
    else:
        size = operands[2]
        yield _Bound("size", size, (16,) if inst.has("cg") else (4, 8, 16), True)
        if operands[3:] and isinstance(size, Integer):
            yield _Bound("size of the source", operands[3], range(size.value + 1))


def _mbarrier(inst: Instruction) -> Iterator[_Bound]:
    if inst.has("parity"):
        yield _Bound("phase parity", inst.operands[2], (0, 1))
    elif inst.has("arrive", "arrive_drop") and not inst.has("expect_tx"):
        # The state that results may stand in front of the address.
        yield _Bound("number of arrivals", inst.operands[-1], range(1, _NO_END))


def _field(first: int) -> Callable[[Instruction], Iterable[_Bound]]:
    def bounds(inst: Instruction) -> Iterator[_Bound]:
        yield _Bound("first bit", inst.operands[first], range(256))
        yield _Bound("number of bits", inst.operands[first + 1], range(256))

    return bounds


def _event(inst: Instruction) -> Iterator[_Bound]:
    name, most = ("event mask", 1 << 16) if inst.has("mask") else ("event", 16)
    yield _Bound(name, inst.operands[0], range(most), constant=True)


def _registers(inst: Instruction) -> Iterator[_Bound]:
    allowed = range(24, 257, 8)
    yield _Bound("number of registers", inst.operands[0], allowed, constant=True)


def _line(inst: Instruction) -> Iterator[_Bound]:
    yield _Bound("size", inst.operands[1], (128,), constant=True)


_BOUNDS: dict[str, Callable[[Instruction], Iterable[_Bound]]] = {
    "bar": _barrier,
    "barrier": _barrier,
    "cp": _copy,
    "mbarrier": _mbarrier,
    "bfe": _field(2),
    "bfi": _field(3),
    "pmevent": _event,
    "setmaxnreg": _registers,
    "discard": _line,
    "applypriority": _line,
}
