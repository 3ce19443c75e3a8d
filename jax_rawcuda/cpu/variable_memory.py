"""Memory of a module's variables. Its kernels share it, as they do on a device."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

from .._base.errors import UnsupportedError
from .emit.variables import initial_elements
from .ptx.module import Module
from .ptx.types import round_up
from .ptx.variable import Variable


class VariableMemory:
    """Variables of one module, from their first use on. Never freed.

    Args:
      module: Where they are declared.
      values: What some of them hold at first, instead of what the module says.

    Raises:
      UnsupportedError: A value is of no variable, or of another size.
    """

    def __init__(self, module: Module, values: Mapping[str, bytes]) -> None:
        self._module = module
        self._values = values
        for name, value in values.items():
            variable = module.variables.get(name)
            if variable is None:
                raise UnsupportedError(f"variable {name} is not in the module")
            if len(value) != variable.size:
                raise UnsupportedError(
                    f"variable {name} has {variable.size} bytes; its value has "
                    f"{len(value)}"
                )
        self._buffers: dict[str, tuple[int, object]] = {}

    def address(self, name: str) -> int:
        """Returns where a variable is."""
        if name not in self._buffers:
            variable = self._module.variables[name]
            size = max(variable.size, 1)
            buffer = ctypes.create_string_buffer(size + variable.align)
            address = round_up(ctypes.addressof(buffer), variable.align)
            # Before its first value: an initialiser may hold the own address.
            self._buffers[name] = address, buffer
            ctypes.memmove(address, self._content(variable).ljust(size, b"\0"), size)
        return self._buffers[name][0]

    def _content(self, variable: Variable) -> bytes:
        value = self._values.get(variable.name)
        if value is not None:
            return value
        return b"".join(initial_elements(variable, self.address))
