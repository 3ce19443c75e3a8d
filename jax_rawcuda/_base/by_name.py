"""ByName: what is copied, pickled and shown as functions are, by name."""

from __future__ import annotations

import importlib
import pickle
import sys
from functools import reduce
from typing import Any

_INNER = ("jax", "jax_rawcuda")


class ByName:
    """An object that stands for a piece of a program, as a function does.

    Attributes:
      name: For messages.
      __module__: Where it was made.
      __qualname__: Its name there, if nothing else is known.
    """

    name: str
    __qualname__: str

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        home = sys.modules.get(self.__module__)
        if _look_up(home, self.__qualname__) is self:
            return _find, (self.__module__, self.__qualname__)
        for name, module in [(self.__module__, home), *sys.modules.items()]:
            for variable, value in [*getattr(module, "__dict__", {}).items()]:
                if value is self:
                    return _find, (name, variable)
        raise pickle.PicklingError(
            f"{self.name}: it is pickled by name, as functions are, and no module has "
            "it as a variable. Assign it at the top level of a module."
        )


def calling_module() -> str:
    """Returns the name of the module whose code has called this package."""
    frame = sys._getframe(1)
    while True:
        name = frame.f_globals.get("__name__", "__main__")
        if name.partition(".")[0] not in _INNER or frame.f_back is None:
            return str(name)
        frame = frame.f_back


def _look_up(module: Any, qualified_name: str) -> Any:
    return reduce(
        lambda x, name: getattr(x, name, None), qualified_name.split("."), module
    )


def _find(module: str, qualified_name: str) -> Any:
    """Undoes the pickling."""
    return reduce(getattr, qualified_name.split("."), importlib.import_module(module))
