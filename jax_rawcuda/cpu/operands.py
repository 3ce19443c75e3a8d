"""PTX instructions and their operands, as values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the user's source.

    Attributes:
      file: Its name.
      line: From 1.
      column: From 1, or 0.
      inlined_at: Where its function was inlined.
      exact: Whether the compiler said so; else it is the place before. What comes from
        several places, such as a store that two branches shared, has none.
    """

    file: str
    line: int
    column: int
    inlined_at: Location | None = None
    exact: bool = True

    def __str__(self) -> str:
        text = f"{self.file}:{self.line}"
        if self.inlined_at is None:
            return text
        return f"{text} (inlined at {self.inlined_at.file}:{self.inlined_at.line})"


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


# Bytes of every PTX type that can be declared.
SIZES = {
    **dict.fromkeys(("pred", "b8", "u8", "s8"), 1),
    **dict.fromkeys(("b16", "u16", "s16", "f16", "bf16"), 2),
    **dict.fromkeys(("b32", "u32", "s32", "f32", "f16x2", "bf16x2", "tf32"), 4),
    **dict.fromkeys(("b64", "u64", "s64", "f64", "f32x2"), 8),
    "b128": 16,
}
TYPE_NAMES = frozenset(SIZES) | {
    "u16x2",
    "s16x2",
    "e4m3",
    "e5m2",
    "e4m3x2",
    "e5m2x2",
    "e2m1x2",
    "ue8m0x2",
    "u4",
    "s4",
    "b1",
}


@dataclass(frozen=True)
class Instruction:
    """One PTX instruction.

    Attributes:
      opcode: The first word, such as `ld`.
      modifiers: The other words, in order: `("global", "f32")`.
      operands: Destinations first.
      predicate: Name of the register that guards the instruction, or None.
      negated: Whether the guard is `@!p`.
      location: The source line, when the PTX has line information.
      text: The instruction as it was written.
    """

    opcode: str
    modifiers: tuple[str, ...] = ()
    operands: tuple[Operand, ...] = ()
    predicate: str | None = None
    negated: bool = False
    location: Location | None = None
    text: str = ""

    @cached_property
    def name(self) -> str:
        """The opcode with all its modifiers."""
        return ".".join((self.opcode, *self.modifiers))

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The modifiers that name types, in order."""
        return tuple(word for word in self.modifiers if word in TYPE_NAMES)

    @property
    def type(self) -> str:
        """The last type: of the operation, or of a conversion's source."""
        return self.types[-1]

    def has(self, *words: str) -> bool:
        """Whether any of these modifiers is present."""
        return any(word in self.modifiers for word in words)

    def pick(self, *words: str) -> str | None:
        """Returns the first modifier that is one of these words."""
        return next((word for word in self.modifiers if word in words), None)

    @property
    def line(self) -> str:
        """Its text, for messages: one line, without the compiler's tabs."""
        return " ".join((self.text or self.name).split())

    def __str__(self) -> str:
        where = f" at {self.location}" if self.location else ""
        return f"`{self.line}`{where}"


@dataclass(frozen=True, slots=True)
class Label:
    """A branch target, unique in its function."""

    name: str


Statement = Instruction | Label
