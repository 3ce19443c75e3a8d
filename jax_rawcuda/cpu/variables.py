"""Module-scope variables: the layout of shared memory, and initialised globals."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .._errors import UnsupportedError
from . import lexer
from .operands import SIZES, Instruction, Symbol, leaves
from .ptx import Module, Variable

_SYMBOL = re.compile(r"(?:generic\()?([\w$.%]+)\)?(?:\s*\+\s*(\d+))?\)?$")
_DYNAMIC_ALIGN = 16


class Variables:
    """Where the symbols of one translation live.

    Attributes:
      shared_bytes: Size of the static shared memory; dynamic memory follows it.
      definitions: LLVM IR of the global variables that are used.
    """

    def __init__(self, module: Module, reachable: Iterable[str]) -> None:
        self.definitions: list[str] = []
        self.shared_bytes = 0
        self._module = module
        self._emitted: set[str] = set()
        self._offsets: dict[str, int] = {}
        self._place_shared(_shared_variables(module, reachable))

    def _place_shared(self, shared: list[Variable]) -> None:
        end = 0
        for variable in shared:
            if variable.size:
                end = round_up(end, variable.align)
                self._offsets[variable.name] = end
                end += variable.size
        dynamic = [variable for variable in shared if not variable.size]
        if dynamic:
            end = round_up(end, max(_DYNAMIC_ALIGN, *(v.align for v in dynamic)))
        self._offsets |= {variable.name: end for variable in dynamic}
        self.shared_bytes = end

    def shared_offset(self, name: str) -> int | None:
        """Returns the offset of a shared variable; None if `name` is not one."""
        return self._offsets.get(name)

    def is_external(self, name: str) -> bool:
        """Whether `name` is a function without a body in this module."""
        function = self._module.functions.get(name)
        return function is None or function.extern

    def pointer(self, name: str) -> str:
        """Returns the LLVM symbol of a function or a global or constant variable."""
        if name in self._module.functions:
            if self.is_external(name):
                return f'@"{name}"'
            return device_symbol(name)
        if name not in self._module.variables:
            raise UnsupportedError(f"symbol {name} is not available on the CPU")
        if name not in self._emitted:
            self._emitted.add(name)
            self.definitions.append(self._definition(self._module.variables[name]))
        return f'@"var.{name}"'

    def _definition(self, variable: Variable) -> str:
        if variable.extern:
            raise UnsupportedError(
                f"external variable {variable.name} is not available on the CPU"
            )
        kind = f"i{8 * SIZES[variable.type]}"
        count = max(variable.count, 1)
        value = "zeroinitializer"
        if variable.initializer:
            elements = [self._element(text) for text in _flat(variable.initializer)]
            elements += ["0"] * (count - len(elements))
            value = "[" + ", ".join(f"{kind} {element}" for element in elements) + "]"
        return (
            f'@"var.{variable.name}" = internal global [{count} x {kind}] {value}, '
            f"align {variable.align}"
        )

    def _element(self, text: str) -> str:
        if (constant := lexer.parse_float(text)) is not None:
            return str(constant.bits)
        if (number := lexer.parse_integer(text)) is not None:
            return str(number)
        match = _SYMBOL.match(text)
        if match is None:
            raise UnsupportedError(f"initialiser `{text}` is not available on the CPU")
        address = f"ptrtoint (ptr {self.pointer(match[1])} to i64)"
        return f"add (i64 {address}, i64 {match[2]})" if match[2] else address


def device_symbol(name: str) -> str:
    """Returns the LLVM symbol of a device function."""
    return f'@"fn.{name}"'


def round_up(value: int, multiple: int) -> int:
    """Rounds up to a multiple."""
    return -(-value // multiple) * multiple


def _flat(text: str) -> list[str]:
    """Returns the scalars of a possibly nested initialiser."""
    if not text.startswith("{"):
        return [text]
    return [leaf for part in lexer.split(text[1:-1]) for leaf in _flat(part)]


def _shared_variables(module: Module, reachable: Iterable[str]) -> list[Variable]:
    """Returns the shared variables that the functions declare or mention."""
    found: dict[str, Variable] = {}
    for name in reachable:
        body = module.functions[name].body
        for variable in body.variables:
            if variable.space == "shared":
                found[variable.name] = variable
        for statement in body.statements:
            if not isinstance(statement, Instruction):
                continue
            for operand in statement.operands:
                for leaf in leaves(operand):
                    if isinstance(leaf, Symbol) and leaf.name in module.variables:
                        variable = module.variables[leaf.name]
                        if variable.space == "shared":
                            found[leaf.name] = variable
    return list(found.values())
