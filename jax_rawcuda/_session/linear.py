"""rc.linear: a function that is linear in its operands, with its transpose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from .._base.by_name import ByName, calling_module
from .._base.compat import hide_frames
from .._base.errors import SignatureError, ValidationError, counted
from .._types.arrays import describe
from .._types.dtypes import spell_array
from .calls import Call, Callee, arrange, is_traced, name_of
from .tangents import fit, zeros


def linear(
    function: Callable[..., Any],
    transpose: Callable[..., Any],
    linear: str | Sequence[str] | None = None,
) -> Linear:
    """Declares a kernel or an op linear, with its transpose.

    Its derivative is the function itself, on tangents. So it can stand in a rule of
    `defjvp` and in front of `jax.linear_transpose`, `jax.grad` and the solvers of
    `jax.scipy.sparse.linalg`, all under `vmap`, too.

    Args:
      function: A kernel, an op, a live op or any function of arrays.
      transpose: Its transpose, likewise. It is called as the function is, but for the
        cotangents of the results, which take the place of the first linear operand; the
        other linear operands are left out. It returns a cotangent for each linear
        operand, in order.
      linear: Names of the operands that it is linear in, all together: `f(x + y) = f(x)
        + f(y)`. All arrays of floating point, if it is left out. The others are
        constants; a derivative in these is the function's own, by its rule.

    Returns:
      A function that is called as `function` is. Nothing checks that it is linear, but
      `rc.check_grads`.

    Raises:
      SignatureError: One is no function.

    >>> product = linear(times, times_transposed, linear="x")  # doctest: +SKIP
    """
    for what, given in (("function", function), ("transpose", transpose)):
        if not callable(given):
            raise SignatureError(f"linear: {what} is {describe(given)}, no function.")
    names = (linear,) if isinstance(linear, str) else linear
    return Linear(function, transpose, None if names is None else tuple(names))


class Linear(Callee, ByName):
    """A linear function that knows its transpose. Made by `rc.linear`.

    Attributes:
      name: Of the function.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        transpose: Callable[..., Any],
        names: tuple[str, ...] | None,
    ) -> None:
        self.name = self.__name__ = self.__qualname__ = name_of(function)
        self.__module__ = calling_module()
        self.__doc__ = f"{self.name}, which is linear, with its transpose."
        self._function = function
        self._transpose = transpose
        self._names = names

    def __repr__(self) -> str:
        return f"<linear {self.name}>"

    @hide_frames
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Calls the function."""
        if not is_traced(args, keywords):
            return self._function(*args, **keywords)
        # Not on import: primitives need jax.extend, which is slow to load.
        from .._xla.opaque import call_opaque

        call = self._arrange(args, keywords)
        operands = dict(zip(call.operands, call.arrays(), strict=True))
        places = self._linear_places(call, operands)
        linear, linear_tree = jax.tree.flatten([operands[i] for i in places])
        types = linear_tree.unflatten(map(jax.typeof, linear))
        others = [i for i in call.operands if i not in places]
        constants, constant_tree = jax.tree.flatten([operands[i] for i in others])
        structure: Any = None  # of the results, once they are known

        def function(constants: Sequence[Any], linear: Sequence[Any]) -> list[Any]:
            nonlocal structure
            given = dict(zip(others, constant_tree.unflatten(constants), strict=True))
            given |= zip(places, linear_tree.unflatten(linear), strict=True)
            args = call.place([given[i] for i in call.operands], call.args)
            positional, keywords = call.passed(args)
            results = self._function(*positional, **keywords)
            leaves: list[Any]
            leaves, structure = jax.tree.flatten(results)
            self._check_results(leaves)
            return leaves

        def transpose(constants: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
            turned = structure.unflatten(cotangents)
            given = dict(zip(others, constant_tree.unflatten(constants), strict=True))
            every = [given.get(i, x) for i, x in enumerate(call.args)]
            made = self._turn(call, places, every, turned)
            return self._fit(call, places, types, made)

        results = call_opaque(self.name, function, constants, linear, transpose)
        return structure.unflatten(results)

    def _arrange(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> Call:
        return arrange(self._function, args, keywords)

    def _linear_places(self, call: Call, operands: Mapping[int, Any]) -> list[int]:
        """Numbers of the linear operands among the positional arguments."""
        for name in self._names or ():
            if name not in call.operand_names:
                raise ValidationError(
                    f"{self.name}: linear= names '{name}'; the operands are "
                    f"{', '.join(call.operand_names)}."
                )
        places = []
        for i, operand in operands.items():
            name = call.names[i]
            if self._names is not None and name not in self._names:
                continue
            kinds = {
                bool(jnp.issubdtype(x.dtype, jnp.inexact))
                for x in jax.tree.leaves(operand)
            }
            if kinds == {True}:
                places.append(i)
            elif True in kinds or self._names is not None:
                raise SignatureError(
                    f"{self.name}: operand '{name}' holds integers, in which nothing "
                    "is linear. Pass them apart, and name the linear operands in "
                    "linear=."
                )
        if not places:
            raise SignatureError(
                f"{self.name}: it has no operand of floating point to be linear in."
            )
        return places

    def _turn(
        self, call: Call, places: Sequence[int], args: Sequence[Any], cotangents: Any
    ) -> Any:
        """Calls the transpose, with cotangents for the linear ones of `args`."""
        many = isinstance(cotangents, tuple | list)
        positional: list[Any] = []
        named: dict[str, Any] = {}
        count = len(args) - call.by_name
        for i, (name, value) in enumerate(zip(call.names, args, strict=True)):
            if i == places[0]:
                positional += cotangents if many else [cotangents]
            elif i in places:
                continue
            elif i < count:
                positional.append(value)
            else:
                named[name] = value
        return self._transpose(*positional, **named, **call.static)

    def _check_results(self, results: Sequence[Any]) -> None:
        for result in results:
            if not jnp.issubdtype(result.dtype, jnp.inexact):
                raise SignatureError(
                    f"{self.name}: a result is {spell_array(result)}, but those of a "
                    "linear function are floating point. Return integers from another "
                    "function."
                )

    def _fit(
        self, call: Call, places: Sequence[int], types: Sequence[Any], made: Any
    ) -> list[Any]:
        """Returns the leaves of what the transpose returned, one per linear leaf."""
        values = [made] if len(places) == 1 else made
        names = [call.names[i] for i in places]
        if not isinstance(values, tuple | list) or len(values) != len(places):
            raise SignatureError(
                f"{self.name}: the transpose returned {describe(made)}, but it needs "
                f"{counted(len(places), 'cotangent')}, of {', '.join(names)}."
            )
        fitted = [
            fit(f"{self.name}: transpose", f"cotangent of operand '{n}'", t, v, zeros)
            for n, t, v in zip(names, types, values, strict=True)
        ]
        leaves: list[Any] = jax.tree.leaves(fitted)
        return leaves
