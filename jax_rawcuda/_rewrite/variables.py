"""Which variables of a module stay as they are, whoever runs.

A changed kernel has a module of its own, with variables of its own. That is right for
tables and strings, and wrong for what some kernel writes. So all code of the module is
followed: which registers, parameters and variables may hold whose address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .._base.demangle import demangle
from .._base.errors import UnsupportedError
from ..cpu import (
    Arguments,
    Function,
    Instruction,
    Memory,
    Operand,
    Register,
    Symbol,
    Variable,
    leaves,
)
from .source import Item, Source

# What only looks at memory, or at an address.
_READING = frozenset({"ld", "ldu", "ldmatrix", "prefetch", "prefetchu", "isspacep"})
# What the device's own library only reads through.
_READING_FUNCTIONS = frozenset({"vprintf", "__assertfail", "malloc", "free"})
# Memory whose contents are followed; elsewhere an address is out of sight.
_FOLLOWED = ("param", "param::func", "local", "shared", "shared::cta")
_MANAGED = re.compile(r"\.managed\b")


def shared_variable(source: Source, items: Iterable[Item]) -> str:
    """Says what an entry shares with other launches, "" if nothing.

    Args:
      source: The whole module.
      items: What the entry reaches.

    Returns:
      Which variable it is, and why it does not stay as it is.
    """
    watched = set()
    for item in items:
        if item.kind == "variable":
            name, variable = item.name, source.module.variables[item.name]
            if variable.space != "global":
                continue
            if variable.extern or _MANAGED.search(source.blanked, item.start, item.end):
                return f"it uses variable {demangle(name)}, which others can write"
            watched.add(name)
        elif item.body:
            for variable in source.function(item.name).body.variables:
                if variable.space == "global":
                    return (
                        f"it has a variable of its own, {variable.name}, in {item.name}"
                    )
    return _Flow(source, watched).find() if watched else ""


class _Place(NamedTuple):
    """A variable or a register; what is loaded through its address, it holds.

    Attributes:
      function: Where it is declared; "" for variables of the module.
      name: Its name there.
    """

    function: str
    name: str


_Places = frozenset[_Place]
_NOWHERE: _Places = frozenset()


class _Flow:
    """Follows addresses until no new holder is found.

    Code is taken without its order: a place that may hold an address at some time may
    hold it always.
    """

    def __init__(self, source: Source, watched: Iterable[str]) -> None:
        self._source = source
        self._watched = frozenset(_Place("", name) for name in watched)
        self._held: dict[_Place, set[_Place]] = {}
        self._lost: set[_Place] = set()  # addresses of these are out of sight
        self._written: dict[_Place, str] = {}  # and by what
        self._grown = False
        self._locals: dict[str, dict[str, Variable]] = {}
        self._results: list[_Place] = []

    def find(self) -> str:
        """Says which watched variable may be written, "" if none is."""
        for name, variable in self._source.module.variables.items():
            for word in re.findall(r"[A-Za-z_$%][\w$]*", variable.initializer):
                if word in self._source.module.variables:
                    self._hold(_Place("", name), {_Place("", word)})
        for name in self._source.definitions:
            function = self._source.function(name)
            self._locals[name] = _locals_of(function)
            self._results += (_Place(name, v.name) for v in function.results)
        self._grown = True
        while self._grown and not self._written:
            self._grown = False
            for name in self._source.definitions:
                for statement in self._source.statements(name):
                    self._follow(name, statement.instruction)
        for place, where in self._written.items():
            return (
                f"it uses variable {demangle(place.name)}, which is written by {where}"
            )
        for place in self._out_of_sight():
            return (
                f"it uses variable {demangle(place.name)}, whose address is kept where "
                "it cannot be followed"
            )
        return ""

    def _out_of_sight(self) -> list[_Place]:
        found: set[_Place] = set()
        todo = list(self._lost)
        while todo:
            place = todo.pop()
            if place not in found:
                found.add(place)
                todo += self._held.get(place, ())
        return sorted(found & self._watched)

    def _follow(self, name: str, instruction: Instruction) -> None:
        operands = instruction.operands
        match instruction.opcode:
            case "call":
                self._call(name, operands)
            case "st" | "red" | "atom" | "cp":
                self._write(name, instruction)
            case _:
                if not operands:
                    return
                self._assign(name, operands[0], self._read_all(name, operands[1:]))
                if instruction.opcode not in _READING:
                    for operand in operands:
                        self._touch(name, operand, instruction)

    def _touch(self, name: str, operand: Operand, instruction: Instruction) -> None:
        """Notes a write through an address."""
        if not isinstance(operand, Memory) or instruction.has("load"):
            return
        for place in self._addresses(name, operand.base) & self._watched:
            self._written.setdefault(place, f"{instruction} of {demangle(name)}")

    def _write(self, name: str, instruction: Instruction) -> None:
        """`st [a], v`, `red [a], v`, `atom r, [a], v`, `cp.async [a], [v], n`."""
        operands = list(instruction.operands)
        if instruction.opcode == "atom":
            result = operands.pop(0)
            self._assign(name, result, self._read(name, operands[0]))
        if not operands:  # cp.async.wait_all
            return
        target, *rest = operands
        self._touch(name, target, instruction)
        values = self._read_all(name, rest)
        if not values:
            return
        targets = _NOWHERE
        if isinstance(target, Memory):
            targets = self._addresses(name, target.base)
        for place in targets:
            self._hold(place, values)
        if not targets or not instruction.has(*_FOLLOWED):
            self._lose(values)

    def _call(self, name: str, operands: Sequence[Operand]) -> None:
        rest = list(operands)
        results = _names(rest.pop(0)) if isinstance(rest[0], Arguments) else ()
        target = rest.pop(0)
        arguments = _names(rest[0]) if rest else ()
        given = [self._held_by(name, argument) for argument in arguments]
        returned = [self._place(name, result) for result in results]
        if not isinstance(target, Symbol):  # some function whose address is taken
            self._lose(_NOWHERE.union(*given))
            for place in returned:
                for result in self._results:
                    self._hold(place, self._held.get(result, ()))
            return
        if target.name in _READING_FUNCTIONS:
            return
        callee = self._source.module.functions.get(target.name)
        if callee is None or callee.extern:
            self._lose(_NOWHERE.union(*given))
            return
        for variable, held in zip(callee.parameters, given, strict=False):
            self._hold(_Place(callee.name, variable.name), held)
        for place, variable in zip(returned, callee.results, strict=False):
            self._hold(place, self._held.get(_Place(callee.name, variable.name), ()))

    def _read_all(self, name: str, operands: Sequence[Operand]) -> _Places:
        return _NOWHERE.union(*(self._read(name, operand) for operand in operands))

    def _read(self, name: str, operand: Operand) -> _Places:
        """The places whose addresses an operand may be, loaded if it is memory."""
        if not isinstance(operand, Memory):
            return self._addresses(name, operand)
        found: set[_Place] = set()
        for place in self._addresses(name, operand.base):
            found |= self._held.get(place, set())
        return frozenset(found)

    def _addresses(self, name: str, operand: Operand) -> _Places:
        found: set[_Place] = set()
        for leaf in leaves(operand):
            if isinstance(leaf, Register):
                found |= self._held.get(_Place(name, leaf.name), set())
            elif isinstance(leaf, Symbol) and (place := self._place(name, leaf.name)):
                found.add(place)
        return frozenset(found)

    def _place(self, name: str, symbol: str) -> _Place | None:
        if symbol in self._locals[name]:
            return _Place(name, symbol)
        return _Place("", symbol) if symbol in self._source.module.variables else None

    def _held_by(self, name: str, symbol: str) -> _Places:
        place = self._place(name, symbol) or _Place(name, symbol)
        return frozenset(self._held.get(place, ()))

    def _assign(self, name: str, operand: Operand, values: _Places) -> None:
        for leaf in leaves(operand):
            if isinstance(leaf, Register):
                self._hold(_Place(name, leaf.name), values)

    def _hold(self, place: _Place | None, values: Iterable[_Place]) -> None:
        if place is None or not values:
            return
        held = self._held.setdefault(place, set())
        before = len(held)
        held.update(values)
        self._grown |= len(held) > before

    def _lose(self, values: Iterable[_Place]) -> None:
        before = len(self._lost)
        self._lost.update(values)
        self._grown |= len(self._lost) > before


def _locals_of(function: Function) -> dict[str, Variable]:
    declared = [*function.parameters, *function.results, *function.body.variables]
    for variable in declared:
        if variable.space == "reg":
            raise UnsupportedError(f"{function.name} has registers as parameters")
    return {variable.name: variable for variable in declared}


def _names(operand: Operand) -> Sequence[str]:
    """The names in `(a, b)`."""
    if not isinstance(operand, Arguments):
        return ()
    return [name for item in operand.items if (name := getattr(item, "name", ""))]
