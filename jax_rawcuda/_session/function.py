"""SessionFunction: a function of a session and arrays, called with the arrays."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate

import jax
import numpy as np

from .._base.by_name import ByName
from .._base.errors import SignatureError
from .calls import Call
from .derivatives import Differentiable
from .refs import Ref
from .session import Session

Body = Callable[Concatenate[Session, ...], Any]

_RECEIVERS = ("self", "cls")  # what Python calls the object of a method


@dataclass(frozen=True, slots=True)
class SortedCall:
    """The arguments of a call, sorted into arrays and what is static.

    Attributes:
      function: The user's; a method is bound to its object.
      receiver: That object, if it is a method.
      leaves: Of the operands.
      tree: Their structure: a tuple by position and a dictionary by name.
      names: One per leaf, for messages.
      static: What is no operand, by name.
    """

    function: Body
    receiver: tuple[Any, ...]
    leaves: list[Any]
    tree: jax.tree_util.PyTreeDef
    names: list[str]
    static: dict[str, Any]


class SessionFunction(Differentiable, ByName):
    """What `rc.op` and `rc.live_op` make of a function.

    In a class it is a method if its first parameter is called `self` or `cls`: the
    session is the second one, and the object is static.

    Attributes:
      name: For messages and profiles.
    """

    def __init__(self, function: Body, name: str | None) -> None:
        taken = _check_body(function, name)
        functools.update_wrapper(self, function)
        self.name = name or str(getattr(function, "__name__", "op"))
        self.__name__ = self.name
        self._function = function
        self._is_method = next(iter(taken.parameters)) in _RECEIVERS
        self._parameters = self._without_session(taken)
        self._operands = self._by_position()
        # JAX counts arguments by it; the wrapped function's would count the session.
        self.__signature__ = self._parameters

    def __repr__(self) -> str:
        return f"<op {self.name}{self.__signature__}>"

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        """Binds a method, as Python binds functions."""
        if owner is None or not self._is_method:
            return self
        return types.MethodType(self, owner)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Calls it with arrays."""
        raise NotImplementedError

    def _sort(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> SortedCall:
        """Sorts the arguments of a call.

        Raises:
          SignatureError: A keyword that is static holds an array; or there is no
            object to call the method of.
        """
        function, receiver, args = self._bind(args)
        static = dict(keywords)
        named = {
            key: static.pop(key)
            for key, parameter in self._operands.items()
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
            and _has(keywords.get(key), jax.Array | np.ndarray | Ref)
        }
        for key, value in static.items():
            if _has(value, jax.Array | Ref):
                raise SignatureError(
                    f"{self.name}: keyword argument '{key}' holds an array, but what "
                    "can only be passed by keyword is static. Let the function take it "
                    "by position."
                )
        positional = [*args]
        for key in list(self._operands)[len(args) :]:
            if key not in named:
                break
            positional.append(named.pop(key))  # the same call, whichever way
        operands = (tuple(positional), named)
        paths, tree = jax.tree_util.tree_flatten_with_path(operands)
        arguments = self._argument_names(len(positional))
        names = []
        for (_, argument, *inner), _leaf in paths:
            is_named = isinstance(argument, jax.tree_util.DictKey)
            name = argument.key if is_named else arguments[argument.idx]
            names.append(f"{name}{jax.tree_util.keystr(tuple(inner))}")
        leaves = [leaf for _, leaf in paths]
        return SortedCall(function, receiver, leaves, tree, names, static)

    def _arrange(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> Call:
        given = self._sort(args, keywords)
        positional, named = given.tree.unflatten(given.leaves)
        named = {key: named[key] for key in self._operands if key in named}
        names = [*self._argument_names(len(positional)), *named]
        if given.receiver:
            names.insert(0, next(iter(self._parameters.parameters)))
        every = (*given.receiver, *positional, *named.values())
        operands = range(len(given.receiver), len(every))
        return Call(
            self.name,
            tuple(names),
            every,
            tuple(operands),
            len(named),
            given.static,
        )

    def _bind(self, args: Sequence[Any]) -> tuple[Body, tuple[Any, ...], Sequence[Any]]:
        """Takes the object of a method from the arguments."""
        if not self._is_method:
            return self._function, (), args
        if not args:
            raise SignatureError(
                f"{self.name}: it is a method, and is called without its object. "
                f"Call it as object.{self._function.__name__}(...)."
            )
        return types.MethodType(self._function, args[0]), (args[0],), args[1:]

    def _without_session(self, taken: inspect.Signature) -> inspect.Signature:
        """What a call takes: all but the session."""
        parameters = [*taken.parameters.values()]
        place = int(self._is_method)
        if parameters[place].kind is not inspect.Parameter.VAR_POSITIONAL:
            del parameters[place]  # else it takes the session and the others
        return taken.replace(parameters=parameters)

    def _by_position(self) -> dict[str, inspect.Parameter]:
        """Parameters that arrays may be passed for."""
        parameters = [*self._parameters.parameters.values()][int(self._is_method) :]
        variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        closed = (*variadic, inspect.Parameter.KEYWORD_ONLY)
        return {p.name: p for p in parameters if p.kind not in closed}

    def _argument_names(self, count: int) -> list[str]:
        """Names of so many positional arguments, without a method's object."""
        names = [*self._operands][:count]
        for parameter in self._parameters.parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                more = count - len(names)
                return names + [f"{parameter.name}[{i}]" for i in range(more)]
        return names + [f"argument {i}" for i in range(len(names), count)]


def _has(value: Any, kind: Any) -> bool:
    return any(isinstance(leaf, kind) for leaf in jax.tree.leaves(value))


def _check_body(function: Any, name: str | None) -> inspect.Signature:
    """Returns the parameters of a function that takes a session."""
    try:
        taken = inspect.signature(function)
    except (TypeError, ValueError):  # not callable, or written in C
        taken = inspect.Signature()
    if not taken.parameters:
        raise SignatureError(
            f"{name or 'op'}: {function!r} is no function whose first parameter is the "
            "session, such as `def f(s, x): ...`."
        )
    if next(iter(taken.parameters)) in _RECEIVERS and len(taken.parameters) == 1:
        raise SignatureError(
            f"{name or function.__name__}: a method's second parameter is the session, "
            "such as `def f(self, s, x): ...`."
        )
    return taken
