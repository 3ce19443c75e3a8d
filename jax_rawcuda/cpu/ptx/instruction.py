"""One instruction of PTX, with the source line it came from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..._base.errors import UnsupportedError
from .operands import Operand
from .types import TYPE_NAMES


def unsupported(inst: Instruction, why: str = "") -> UnsupportedError:
    """Makes the error for an instruction that the CPU route cannot run."""
    reason = why or "not available on the CPU"
    return UnsupportedError(f"instruction {inst}: {reason}")


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


def require(inst: Instruction, *words: str) -> None:
    """Refuses an instruction with a modifier that is neither a type nor listed.

    Args:
      inst: The instruction.
      *words: The modifiers that the caller understands or may ignore.
    """
    for word in inst.modifiers:
        if word not in words and word not in TYPE_NAMES:
            raise unsupported(inst, f".{word} is not available on the CPU")


@dataclass(frozen=True, slots=True)
class Label:
    """A branch target, unique in its function."""

    name: str


Statement = Instruction | Label
