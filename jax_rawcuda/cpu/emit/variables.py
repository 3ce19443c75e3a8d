"""Module-scope variables: the layout of shared memory, and initialised globals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from ..._base.errors import UnsupportedError
from ..._base.text import split_top_level
from ..ptx import operand_parser
from ..ptx.instruction import Instruction
from ..ptx.module import Module
from ..ptx.operands import Symbol, leaves
from ..ptx.types import SIZES, round_up
from ..ptx.variable import Variable

_SYMBOL = re.compile(r"(?:generic\()?([\w$.%]+)\)?(?:\s*\+\s*(\d+))?\)?$")
_DYNAMIC_ALIGN = 16


def device_symbol(name: str) -> str:
    """Returns the LLVM symbol of a device function."""
    return f'@"fn.{name}"'


class Variables:
    """Where the symbols of one translation live.

    Attributes:
      shared_bytes: Size of the static shared memory; dynamic memory follows it.
      definitions: LLVM IR of the global variables that are used.
      external: Those among them that the module's kernels share.
      red_zone_bytes: What `red_zone` has added to `shared_bytes`. With it, the
        definitions are visible from outside.
    """

    def __init__(
        self, module: Module, reachable: Iterable[str], red_zone: int = 0
    ) -> None:
        self.definitions: list[str] = []
        self.external: list[str] = []
        self.shared_bytes = 0
        self._module = module
        self._emitted: set[str] = set()
        self._offsets: dict[str, int] = {}
        self._shared = _shared_variables(module, reachable)
        self._place_shared(self._shared, 0)
        bare, self._checked = self.shared_bytes, red_zone != 0
        if red_zone:
            self._place_shared(self._shared, red_zone)
        self.red_zone_bytes = self.shared_bytes - bare

    def _place_shared(self, shared: list[Variable], red_zone: int) -> None:
        end = 0
        for variable in shared:
            if variable.size:
                end = round_up(end, variable.align)
                self._offsets[variable.name] = end
                end += variable.size + red_zone
        dynamic = [variable for variable in shared if not variable.size]
        if dynamic:
            end = round_up(end, max(_DYNAMIC_ALIGN, *(v.align for v in dynamic)))
        self._offsets |= {variable.name: end for variable in dynamic}
        self.shared_bytes = end

    @property
    def named(self) -> list[str]:
        """The names of the global variables that are used."""
        return sorted(self._emitted)

    def shared(self) -> Iterator[tuple[Variable, int]]:
        """Yields the shared variables with their offsets."""
        for variable in self._shared:
            yield variable, self._offsets[variable.name]

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
        symbol = f'@"var.{variable.name}"'
        linkage = "" if self._checked else "internal "
        if not self._module.functions_of(variable.name):
            self.external.append(variable.name)
            if self._checked:  # what lies behind its pointers is known, too
                for text in _scalars(variable):
                    self._element(text)
            access = "constant" if variable.space == "const" else "global"
            return (
                f"{symbol} = external {access} [{count} x {kind}], "
                f"align {variable.align}"
            )
        # The addresses of device functions are known to this kernel's code only.
        elements = [self._element(text) for text in _scalars(variable)]
        elements += ["0"] * (count - len(elements))
        value = "[" + ", ".join(f"{kind} {element}" for element in elements) + "]"
        return (
            f"{symbol} = {linkage}global [{count} x {kind}] {value}, "
            f"align {variable.align}"
        )

    def _element(self, text: str) -> str:
        value = _parse_element(text)
        if isinstance(value, int):
            return str(value)
        name, offset = value
        address = f"ptrtoint (ptr {self.pointer(name)} to i64)"
        return f"add (i64 {address}, i64 {offset})" if offset else address


def initial_elements(
    variable: Variable, address: Callable[[str], int]
) -> Iterator[bytes]:
    """Yields the bytes of each scalar that a variable's initialiser has.

    Args:
      variable: Of a module.
      address: Of another variable, by name.
    """
    size = SIZES[variable.type]
    for text in _scalars(variable):
        value = _parse_element(text)
        if not isinstance(value, int):
            name, offset = value
            value = address(name) + offset
        yield (value % (1 << 8 * size)).to_bytes(size, "little")


def _parse_element(text: str) -> int | tuple[str, int]:
    """Returns the bits of a number, or a symbol and an offset."""
    if (constant := operand_parser.parse_float(text)) is not None:
        return constant.bits
    if (number := operand_parser.parse_integer(text)) is not None:
        return number
    match = _SYMBOL.match(text)
    if match is None:
        raise UnsupportedError(f"initialiser `{text}` is not available on the CPU")
    return match[1], int(match[2] or 0)


def _scalars(variable: Variable) -> list[str]:
    return _flat(variable.initializer) if variable.initializer else []


def _flat(text: str) -> list[str]:
    """Returns the scalars of a possibly nested initialiser."""
    if not text.startswith("{"):
        return [text]
    return [leaf for part in split_top_level(text[1:-1]) for leaf in _flat(part)]


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
