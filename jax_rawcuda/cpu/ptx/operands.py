"""PTX instructions and their operands, as values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Register:
    """A virtual register, unique in its function (`%r1`, or `%r1@2` in a scope)."""

    name: str


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Float:
    """A floating-point constant: its IEEE bits in `width` (32 or 64) bits."""

    bits: int
    width: int


@dataclass(frozen=True, slots=True)
class Special:
    """A special register with its axis, such as `%tid.x`."""

    name: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """The address of a variable or function, plus a byte offset; or a label."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """`[base + offset]`."""

    base: Operand
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Vector:
    """`{a, b, ...}`: one value in several registers, lowest part first."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Arguments:
    """`(a, b, ...)`: the parameters or results of a call."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Tensor:
    """`[a, b, ...]`: the address of a texture or a tensor map."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """`a|b`: two destinations."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Not:
    """`!p`."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Negative:
    """`-a`."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Sink:
    """`_`: a result nobody wants."""


Operand = (
    Register
    | Integer
    | Float
    | Special
    | Symbol
    | Memory
    | Vector
    | Arguments
    | Tensor
    | Pair
    | Not
    | Negative
    | Sink
)


def children(operand: Operand) -> tuple[Operand, ...]:
    """Returns the operands directly inside an operand."""
    match operand:
        case Vector(items) | Arguments(items) | Tensor(items):
            return items
        case Memory(base, _):
            return (base,)
        case Not(inner) | Negative(inner):
            return (inner,)
        case Pair(first, second):
            return (first, second)
        case _:
            return ()


def leaves(operand: Operand) -> Iterator[Operand]:
    """Yields the innermost operands: registers, symbols and constants."""
    inner = children(operand)
    if not inner:
        yield operand
    for child in inner:
        yield from leaves(child)


def registers(operand: Operand) -> Iterator[str]:
    """Yields the names of all registers in an operand."""
    for leaf in leaves(operand):
        if isinstance(leaf, Register):
            yield leaf.name


# The condition-code register of add.cc and its kin: an i1 like a predicate.
CARRY = Register("CC")

Mapper = Callable[[Operand], Operand]


def map_leaves(operand: Operand, change: Mapper) -> Operand:
    """Rebuilds an operand with `change` applied to its innermost operands."""

    def every(items: tuple[Operand, ...]) -> tuple[Operand, ...]:
        return tuple(map_leaves(item, change) for item in items)

    match operand:
        case Vector(items):
            return Vector(every(items))
        case Arguments(items):
            return Arguments(every(items))
        case Tensor(items):
            return Tensor(every(items))
        case Memory(base, offset):
            return Memory(map_leaves(base, change), offset)
        case Pair(first, second):
            return Pair(map_leaves(first, change), map_leaves(second, change))
        case Not(inner):
            return Not(map_leaves(inner, change))
        case Negative(inner):
            return Negative(map_leaves(inner, change))
        case _:
            return change(operand)
