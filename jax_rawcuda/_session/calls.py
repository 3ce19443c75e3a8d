"""Call: one call of a kernel or an op, its arrays apart from what is static."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from .._base.compat import is_tracer, vary_alike
from .._types.arrays import check_dtype, check_operand
from .refs import Ref


@dataclass(frozen=True, slots=True)
class Call:
    """What a function is called with.

    Attributes:
      name: Of the function, for messages.
      names: Of the arguments.
      args: The arguments, in the order of the function's parameters.
      operands: Which of them are arrays, or pytrees of arrays. The others are static.
      by_name: How many of them, the last ones, can only be passed by keyword.
      static: The other keyword arguments, which are static.
    """

    name: str
    names: tuple[str, ...]
    args: tuple[Any, ...]
    operands: tuple[int, ...]
    by_name: int
    static: Mapping[str, Any]

    @property
    def operand_names(self) -> tuple[str, ...]:
        """The names of the operands."""
        return tuple(self.names[i] for i in self.operands)

    def arrays(self) -> tuple[Any, ...]:
        """Returns the operands as JAX takes them, cast to vary alike over a mesh.

        The cast is to stand outside of what has a rule: its transpose is the sum over
        the mesh that the cotangent of a replicated operand needs.

        Raises:
          SignatureError: One is no array, or of a dtype that JAX would change.
        """
        named = [
            (f"{self.names[i]}{jax.tree_util.keystr(path)}", leaf)
            for i in self.operands
            for path, leaf in jax.tree_util.tree_leaves_with_path(self.args[i])
        ]
        leaves = vary_alike([self._array(name, leaf) for name, leaf in named])
        tree = jax.tree.structure(tuple(self.args[i] for i in self.operands))
        operands: tuple[Any, ...] = tree.unflatten(leaves)
        return operands

    def _array(self, name: str, value: Any) -> Any:
        owner = f"{self.name}: operand '{name}'"
        array, type_ = check_operand(owner, value)
        check_dtype(owner, type_.dtype)
        return array

    def place(self, operands: Sequence[Any], others: Sequence[Any]) -> tuple[Any, ...]:
        """Puts one value per operand among the static values of `others`."""
        every = list(others)
        for i, x in zip(self.operands, operands, strict=True):
            every[i] = x
        return tuple(every)

    def passed(self, args: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Splits values of `args` into what is passed by position and by keyword."""
        count = len(self.args) - self.by_name
        named = zip(self.names[count:], args[count:], strict=True)
        return tuple(args[:count]), {**dict(named), **self.static}


class Callee:
    """What JAX's transformations call by rules of the user's.

    Attributes:
      name: For messages.
    """

    name: str

    def _arrange(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> Call:
        """Brings a call into the order of the parameters."""
        raise NotImplementedError


def arrange(
    function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]
) -> Call:
    """Sorts the arguments of a call of a kernel, an op or any other function."""
    if isinstance(function, Callee):
        return function._arrange(args, keywords)
    operands = [
        i for i, x in enumerate(args) if any(map(_is_array, jax.tree.leaves(x)))
    ]
    name = name_of(function)
    names = _names(function, len(args))
    return Call(name, names, tuple(args), tuple(operands), 0, dict(keywords))


def name_of(function: Callable[..., Any]) -> str:
    """Names a function in messages."""
    fallback = getattr(function, "__name__", type(function).__name__)
    return str(getattr(function, "name", fallback))


def is_traced(args: Sequence[Any], keywords: Mapping[str, Any]) -> bool:
    """Whether a call takes part in a transformation, and records into no session."""
    leaves = jax.tree.leaves((*args, *keywords.values()))
    return any(map(is_tracer, leaves)) and not any(isinstance(x, Ref) for x in leaves)


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | np.ndarray)


def _names(function: Callable[..., Any], count: int) -> tuple[str, ...]:
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):  # written in C
        parameters = []
    positional = [p.name for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]
    named = positional[:count]
    return (*named, *(f"argument {i}" for i in range(len(named), count)))
