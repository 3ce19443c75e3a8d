"""Reads of changed parameters: where they happen, and what they become."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..cpu import SIZES, Instruction, Memory, Operand, Register, Symbol, Vector, leaves
from .source import Edit, Source, Statement
from .special import guard

# What may be done to a parameter's address; the result is one in the same parameter.
_DERIVING = frozenset({"mov", "add", "sub", "mad", "and", "or", "selp"})
_SPACES = ("param", "param::entry")
_ORDINARY = frozenset({*_SPACES, "v2", "v4", "v8", *SIZES})
_OPCODE = re.compile(r"[\w.:]+")
_WORD = re.compile(r"[A-Za-z_$%][\w$]*")

_Roots = dict[str, set[str]]  # register -> parameters whose address it may hold


@dataclasses.dataclass(frozen=True, slots=True)
class Changes:
    """What becomes of an entry's parameters.

    Attributes:
      names: Of all parameters, in order.
      pointers: Name of a batched pointer -> the register that holds the element's.
      values: Name of a dynamic parameter -> the register that holds its address, in
        global memory.
      space: What a load of such a value says instead of `param`.
    """

    names: Sequence[str]
    pointers: Mapping[str, str]
    values: Mapping[str, str]
    space: str

    def __contains__(self, name: str) -> bool:
        return name in self.pointers or name in self.values


def parameter_edits(source: Source, entry: str, changes: Changes) -> list[Edit] | str:
    """Changes all uses of the changed parameters.

    Args:
      source: The text.
      entry: The entry's name.
      changes: What to change.

    Returns:
      The edits, or what is wrong.
    """
    statements = source.statements(entry)
    roots = _find_roots(changes, statements)
    edits: list[Edit] = []
    for statement in statements:
        used = _used(statement.instruction, changes, roots)
        if any(name in changes for name in used):
            outcome = _change(_Use.of(source, statement, used), changes)
            if isinstance(outcome, _Problem):
                return f"it {outcome.what}, in instruction {statement.instruction}"
            edits.append(Edit(statement.start, statement.end, outcome))
    missed = _missed(source, entry, changes, edits)
    return (
        f"it names parameter {missed} outside of any instruction" if missed else edits
    )


def _used(instruction: Instruction, changes: Changes, roots: _Roots) -> set[str]:
    """The parameters that an instruction names, or may hold the address of."""
    operands: Sequence[Operand] = instruction.operands
    if operands and isinstance(operands[0], Register | Vector):  # takes the result
        operands = operands[1:]
    found = set()
    for operand in operands:
        for leaf in leaves(operand):
            if isinstance(leaf, Symbol) and leaf.name in changes.names:
                found.add(leaf.name)
            elif isinstance(leaf, Register):
                found |= roots.get(leaf.name, set())
    return found


def _find_roots(changes: Changes, statements: Sequence[Statement]) -> _Roots:
    roots: _Roots = {}
    deriving = [s.instruction for s in statements if s.instruction.opcode in _DERIVING]
    grown = True
    while grown:
        grown = False
        for instruction in deriving:
            if used := _used(instruction, changes, roots):
                for leaf in leaves(instruction.operands[0]):
                    if isinstance(leaf, Register):
                        held = roots.setdefault(leaf.name, set())
                        grown |= not used <= held
                        held |= used
    return roots


def _missed(
    source: Source, entry: str, changes: Changes, edits: Sequence[Edit]
) -> str | None:
    """Returns a changed parameter that is named where nothing is edited."""
    names = [*changes.pointers, *changes.values]
    if not names:
        return None
    body = source.definitions[entry].body or (0, 0)
    word = re.compile(rf"(?<![\w$%])(?:{'|'.join(map(re.escape, names))})(?![\w$])")
    waiting = list(reversed(edits))
    for found in word.finditer(source.blanked, *body):
        while waiting and waiting[-1].end < found.end():
            waiting.pop()
        if not waiting or found.start() < waiting[-1].start:
            return found[0]
    return None


class _Problem(NamedTuple):
    what: str


class _Use(NamedTuple):
    """An instruction that has to do with a changed parameter.

    Attributes:
      instruction: What it is.
      used: The parameters that it names, or may hold the address of.
      guard: Its text up to the opcode.
      opcode: Its opcode, with modifiers.
      operands: The rest of its text.
    """

    instruction: Instruction
    used: set[str]
    guard: str
    opcode: str
    operands: str

    @classmethod
    def of(cls, source: Source, statement: Statement, used: set[str]) -> _Use:
        text = source.blanked[statement.start : statement.end]
        front = guard(text)
        found = _OPCODE.match(text, len(front))
        end = found.end() if found else len(front)
        return cls(
            statement.instruction, used, front, text[len(front) : end], text[end:]
        )


def _change(use: _Use, changes: Changes) -> str | _Problem:
    """Returns the new text of an instruction."""
    instruction = use.instruction
    if instruction.opcode in _DERIVING:
        return _derive(use, changes)
    if instruction.has(*_SPACES) and instruction.opcode == "ld":
        return _load(use, changes)
    if instruction.has(*_SPACES) and instruction.opcode == "cvta":
        return _make_generic(use, changes)
    return _taken(use, changes)


def _taken(use: _Use, changes: Changes) -> _Problem:
    name = next(name for name in sorted(use.used) if name in changes)
    return _Problem(f"takes the address of parameter {name}")


def _not_values(use: _Use, changes: Changes) -> _Problem | None:
    """Says what is wrong unless all that an address may point to is dynamic."""
    if use.used <= changes.values.keys():
        return None
    if use.used & changes.pointers.keys():
        return _taken(use, changes)
    listed = ", ".join(sorted(use.used))
    return _Problem(
        f"reads one of the parameters {listed}, of which some are not changed"
    )


def _load(use: _Use, changes: Changes) -> str | _Problem:
    """`ld.param T, [parameter+8]`, or from an address derived from a parameter."""
    address = use.instruction.operands[1]
    if not isinstance(address, Memory):
        return _taken(use, changes)
    bracket = use.operands.rindex("[")
    target, place = use.operands[:bracket], use.operands[bracket:]
    if isinstance(address.base, Symbol):
        name, offset = address.base.name, address.base.offset + address.offset
        if name in changes.pointers:
            return _load_pointer(use, name, offset, target, changes.pointers[name])
        place = f"[{changes.values[name]}+{offset}]"
    elif problem := _not_values(use, changes):
        return problem
    # Others, such as `.weak`, do not go together with `.nc`.
    ordinary = _ORDINARY.issuperset(use.instruction.modifiers)
    opcode = _respell(use.instruction, changes.space if ordinary else "global")
    return f"{use.guard}{opcode}{target}{place}"


def _load_pointer(
    use: _Use, name: str, offset: int, target: str, register: str
) -> str | _Problem:
    """A pointer that is loaded whole becomes the element's own."""
    instruction = use.instruction
    whole = offset == 0 and SIZES[instruction.type] == 8
    if not whole or not isinstance(instruction.operands[0], Register):
        return _Problem(f"reads a part of the pointer {name}")
    return f"{use.guard}mov.b64{target}{register}"


def _make_generic(use: _Use, changes: Changes) -> str | _Problem:
    """`cvta.param T, address`: a generic address, of which no more need be known."""
    if problem := _not_values(use, changes):
        return problem
    if use.instruction.has("to") or _offset(use, changes):
        return _taken(use, changes)
    opcode = _respell(use.instruction, "global")
    return f"{use.guard}{opcode}{_substitute(use.operands, changes)}"


def _derive(use: _Use, changes: Changes) -> str | _Problem:
    """`mov T, parameter+8`, or arithmetic on such an address."""
    if use.used & changes.pointers.keys() or SIZES[use.instruction.type] != 8:
        return _taken(use, changes)
    operands = _substitute(use.operands, changes)
    if not (offset := _offset(use, changes)):
        return f"{use.guard}{use.opcode}{operands}"
    if use.instruction.opcode != "mov":
        return _taken(use, changes)
    target, _, register = operands.partition(",")
    return f"{use.guard}add.s64{target}, {_WORD.findall(register)[0]}, {offset}"


def _offset(use: _Use, changes: Changes) -> int:
    """Returns what is added to a parameter's address where it is named."""
    return next(
        (
            leaf.offset
            for operand in use.instruction.operands
            for leaf in leaves(operand)
            if isinstance(leaf, Symbol) and leaf.name in changes and leaf.offset
        ),
        0,
    )


def _respell(instruction: Instruction, space: str) -> str:
    words = (space if word in _SPACES else word for word in instruction.modifiers)
    return ".".join([instruction.opcode, *words])


def _substitute(text: str, changes: Changes) -> str:
    """Puts registers in the place of dynamic parameters."""
    return _WORD.sub(lambda found: changes.values.get(found[0], found[0]), text)
