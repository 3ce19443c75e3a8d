"""Bodies of PTX functions: scopes, registers, labels, statements."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field

from ..._base.errors import UnsupportedError
from ..._base.text import split_top_level
from . import operand_parser
from .instruction import Instruction, Label, Location, Statement
from .operands import Operand, Register, Symbol
from .text import LOC, find
from .variable import Variable, parse_variable

_SPACE = re.compile(r"\s*")
_LABEL = re.compile(r"([\w$]+)\s*:(?!:)")
_TABLE = re.compile(r"\s*\.(branchtargets|callprototype|calltargets)\b([^;]*);")
_REGISTERS = re.compile(r"\.reg\s*(?:\.v[24]\s*)?\.(\w+)\s+(.*)$", re.DOTALL)
_RANGE = re.compile(r"([\w$%]+)<(\d+)>$")
_GUARD = re.compile(r"@(!?)([\w$%]+)\s+")
_OPCODE = re.compile(r"([\w.:]+)\s*")
_MAX_REGISTERS = 1 << 20
_VARIABLES = (".param", ".local", ".shared", ".const", ".global", ".extern")


@dataclass
class Body:
    """What a function declares and does.

    Attributes:
      registers: Name -> PTX type.
      variables: Local, shared and call-parameter variables.
      statements: Instructions and labels, in order.
      targets: Name of a branch table -> its labels.
    """

    registers: dict[str, str] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass
class _Scope:
    """One `{ }`: inline assembly declares the same names again and again."""

    number: int
    names: dict[str, Operand] = field(default_factory=dict)

    def unique(self, name: str) -> str:
        return f"{name}@{self.number}" if self.number else name


def parse_body(text: str, locations: tuple[Location, ...]) -> Body:
    """Parses the text between a function's braces, as `text.clean` returns it."""
    return _BodyParser(locations).parse(text)


class _BodyParser:
    def __init__(self, locations: tuple[Location, ...]) -> None:
        self._locations = locations
        self._body = Body()
        self._scopes = [_Scope(0)]
        self._scope_count = 0
        self._labels: dict[tuple[int, str], str] = {}
        # Index of a branch -> numbers of its scopes, innermost first.
        self._branches: dict[int, list[int]] = {}
        self._tables: dict[str, list[int]] = {}  # likewise, of a table of targets
        self._location: Location | None = None

    def parse(self, text: str) -> Body:
        position = 0
        while (position := _SPACE.match(text, position).end()) < len(text):  # type: ignore[union-attr]
            character = text[position]
            if character == "{":
                self._scope_count += 1
                self._scopes.append(_Scope(self._scope_count))
                position += 1
            elif character == "}":
                self._scopes.pop()
                position += 1
            elif character == ";":
                position += 1
            elif character != "." and (match := _LABEL.match(text, position)):
                position = self._label(text, match)
            else:
                end = find(text, ";", position)
                self._statement(text[position:end].strip())
                position = end + 1
        self._resolve_branches()
        return self._body

    def _label(self, text: str, match: re.Match[str]) -> int:
        name, scope = match[1], self._scopes[-1]
        if table := _TABLE.match(text, match.end()):
            if table[1] == "branchtargets":
                unique = scope.unique(name)
                scope.names[name] = Symbol(unique)
                self._body.targets[unique] = tuple(split_top_level(table[2]))
                self._tables[unique] = self._scope_numbers()
            return table.end()
        self._labels[scope.number, name] = scope.unique(name)
        self._body.statements.append(Label(scope.unique(name)))
        return match.end()

    def _statement(self, text: str) -> None:
        if text.startswith(LOC):
            self._location = self._locations[int(text[len(LOC) :])]
        elif text.startswith(".reg"):
            self._declare_registers(text)
        elif text.startswith(_VARIABLES):
            variable = parse_variable(text)
            name = self._scopes[-1].unique(variable.name)
            self._scopes[-1].names[variable.name] = Symbol(name)
            self._body.variables.append(variable.renamed(name))
        elif text.startswith("."):
            if not text.startswith(".pragma"):
                raise UnsupportedError(f"PTX directive `{text}` is not supported")
        else:
            self._body.statements.append(self._instruction(text))

    def _declare_registers(self, text: str) -> None:
        match = _REGISTERS.match(text)
        if match is None:
            raise UnsupportedError(f"PTX declaration `{text}` is not supported")
        scope = self._scopes[-1]
        for item in split_top_level(match[2]):
            many = _RANGE.match(item)
            if many and int(many[2]) > _MAX_REGISTERS:
                raise UnsupportedError(f"PTX declares too many registers: {item}")
            names = [f"{many[1]}{i}" for i in range(int(many[2]))] if many else [item]
            for name in names:
                unique = scope.unique(name)
                scope.names[name] = Register(unique)
                self._body.registers[unique] = match[1]

    def _resolve(self, name: str) -> Operand | None:
        for scope in reversed(self._scopes):
            if (found := scope.names.get(name)) is not None:
                return found
        return None

    def _instruction(self, text: str) -> Instruction:
        rest, predicate, negated = text, None, False
        if guard := _GUARD.match(text):
            register = self._resolve(guard[2])
            if not isinstance(register, Register):
                raise UnsupportedError(f"PTX predicate of `{text}` is not declared")
            predicate, negated = register.name, bool(guard[1])
            rest = text[guard.end() :]
        match = _OPCODE.match(rest)
        if match is None:
            raise UnsupportedError(f"PTX statement `{text[:80]}` is not supported")
        opcode, *modifiers = match[1].replace("::", "\0").split(".")
        words = tuple(word.replace("\0", "::") for word in modifiers)
        tail = rest[match.end() :]
        operands: tuple[Operand, ...]
        if opcode == "bra":
            operands = (Symbol(tail.strip()),)
            index = len(self._body.statements)
            self._branches[index] = self._scope_numbers()
        else:
            operands = tuple(
                operand_parser.parse_operand(part, self._resolve)
                for part in split_top_level(tail)
            )
        return Instruction(
            opcode, words, operands, predicate, negated, self._location, text
        )

    def _resolve_branches(self) -> None:
        for index, numbers in self._branches.items():
            branch = self._body.statements[index]
            if not isinstance(branch, Instruction):
                continue
            (target,) = branch.operands
            name = target.name if isinstance(target, Symbol) else ""
            label = self._find_label(name, numbers)
            if label is None:
                raise UnsupportedError(f"PTX branch {branch} has no label {name}")
            self._body.statements[index] = dataclasses.replace(
                branch, operands=(Symbol(label),)
            )
        for table, numbers in self._tables.items():
            names = self._body.targets[table]
            labels = [self._find_label(name, numbers) for name in names]
            if None in labels:
                missing = names[labels.index(None)]
                raise UnsupportedError(f"PTX table {table} has no label {missing}")
            self._body.targets[table] = tuple(filter(None, labels))

    def _scope_numbers(self) -> list[int]:
        return [scope.number for scope in reversed(self._scopes)]

    def _find_label(self, name: str, numbers: list[int]) -> str | None:
        found = (self._labels.get((number, name)) for number in numbers)
        return next((label for label in found if label is not None), None)
