"""SessionFunction: a function of a session and arrays, called with the arrays."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate

import jax

from .._base.by_name import ByName
from .._base.errors import SignatureError
from .refs import Ref
from .session import Session

Body = Callable[Concatenate[Session, ...], Any]


class SessionFunction(ByName):
    """What `rc.op` and `rc.live_op` make of a function.

    Attributes:
      name: For messages and profiles.
    """

    def __init__(self, function: Body, name: str | None) -> None:
        _check_body(function, name)
        functools.update_wrapper(self, function)
        self.name = name or str(getattr(function, "__name__", "op"))
        self.__name__ = self.name
        self._function = function
        # JAX counts arguments by it; the wrapped function's would count the session.
        self.__signature__ = self._parameters()

    def __repr__(self) -> str:
        return f"<op {self.name}{self._parameters()}>"

    def __call__(self, *args: Any, **static: Any) -> Any:
        """Calls it with arrays."""
        raise NotImplementedError

    def _flatten(
        self, args: Sequence[Any], static: Mapping[str, Any]
    ) -> tuple[list[Any], jax.tree_util.PyTreeDef, list[str]]:
        """Returns the leaves of the operands, their structure and their names.

        Raises:
          SignatureError: A keyword holds an array.
        """
        for key, value in static.items():
            if any(isinstance(x, jax.Array | Ref) for x in jax.tree.leaves(value)):
                raise SignatureError(
                    f"{self.name}: keyword argument '{key}' holds an array, but "
                    "keywords are static. Pass arrays by position."
                )
        paths, tree = jax.tree_util.tree_flatten_with_path(tuple(args))
        arguments = self._argument_names(len(args))
        names = [
            f"{arguments[path[0].idx]}{jax.tree_util.keystr(path[1:])}"
            for path, _ in paths
        ]
        return [leaf for _, leaf in paths], tree, names

    def _parameters(self) -> inspect.Signature:
        signature = inspect.signature(self._function)
        first, *rest = signature.parameters.values()
        if first.kind is first.VAR_POSITIONAL:  # it takes the session and the others
            rest.insert(0, first)
        return signature.replace(parameters=rest)

    def _argument_names(self, count: int) -> list[str]:
        names: list[str] = []
        for parameter in self._parameters().parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                names += [f"{parameter.name}[{i}]" for i in range(count - len(names))]
            elif parameter.kind is not parameter.KEYWORD_ONLY:
                names.append(parameter.name)
        return names + [f"argument {i}" for i in range(len(names), count)]


def _check_body(function: Any, name: str | None) -> None:
    try:
        takes_session = bool(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # not callable, or written in C
        takes_session = False
    if not takes_session:
        raise SignatureError(
            f"{name or 'op'}: {function!r} is no function whose first parameter is the "
            "session, such as `def f(s, x): ...`."
        )
