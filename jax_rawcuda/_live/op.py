"""rc.live_op: a Python function that runs with the program, on its stream."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import jax
import jax.numpy as jnp
import numpy as np

from .._base.callbacks import ask
from .._base.checked_mode import enabled, waiting
from .._base.compat import (
    buffer_callback,
    hide_frames,
    is_tracer,
    vary_over,
    varying_axes,
)
from .._base.errors import SessionError, SignatureError, ValidationError, counted
from .._session.function import Body, SessionFunction, SortedCall
from .._session.refs import Ref
from .._types.arrays import check_dtype, check_operand, describe
from .call import LiveCall, StaticArgument
from .outputs import outputs_parameter, without_outputs
from .transforms import check_method, transformable


@overload
def live_op(
    function: Body,
    *,
    out: Any = None,
    name: str | None = None,
    in_out: str | Sequence[str] = (),
    vmap_method: str | None = None,
    has_side_effect: bool = False,
) -> LiveOp: ...
@overload
def live_op(
    function: None = None,
    *,
    out: Any = None,
    name: str | None = None,
    in_out: str | Sequence[str] = (),
    vmap_method: str | None = None,
    has_side_effect: bool = False,
) -> Callable[[Body], LiveOp]: ...
@hide_frames
def live_op(
    function: Body | None = None,
    *,
    out: Any = None,
    name: str | None = None,
    in_out: str | Sequence[str] = (),
    vmap_method: str | None = None,
    has_side_effect: bool = False,
) -> LiveOp | Callable[[Body], LiveOp]:
    """Makes a function that runs with the compiled program callable with arrays.

    Its body runs in Python each time the program runs, with the real stream and memory:
    the place for vendor libraries between kernels. XLA never makes it part of a CUDA
    graph. Where no Python is needed, `rc.op` is faster, and can be exported.

    Args:
      function: Takes a LiveSession (a method takes it after `self`), the operands as
        TensorRefs, and the outputs when `out` is given: in the parameter `out`, or else
        in the last one that must be passed. Other arguments are static, as for `rc.op`.
        It writes to the outputs and returns nothing.
      out: The results: a pytree of `jax.ShapeDtypeStruct`s, or a function that returns
        one, called as the op is, a method's with its object, with abstract arrays.
      name: For messages and profiles; the function's own name by default.
      in_out: Arguments that are changed in place. They arrive as TensorMuts, and their
        new values are results, before those of `out`.
      vmap_method: How `jax.vmap` calls it, as for `jax.pure_callback`; with None it is
        an error. Operands that are changed in place have the axis in any case.
      has_side_effect: Whether it must run even if nobody needs its results.

    Returns:
      A function of arrays. One result comes bare, several as a tuple.

    Raises:
      ValidationError: There are neither results nor side effects, or no such
        `vmap_method`.

    What the body raises comes out of the program as `jax.errors.JaxRuntimeError` with
    the text and traceback.
    """
    if function is None:
        return functools.partial(
            live_op,
            out=out,
            name=name,
            in_out=in_out,
            vmap_method=vmap_method,
            has_side_effect=has_side_effect,
        )
    names = (in_out,) if isinstance(in_out, str) else tuple(in_out)
    return LiveOp(function, name, out, names, vmap_method, has_side_effect)


class LiveOp(SessionFunction):
    """A function that runs with the program. Made by `rc.live_op`."""

    def __init__(
        self,
        function: Body,
        name: str | None,
        out: Any,
        in_out: tuple[str, ...],
        vmap_method: str | None,
        has_side_effect: bool,
    ) -> None:
        super().__init__(function, name)
        if out is None and not in_out and not has_side_effect:
            raise ValidationError(
                f"{self.name}: it has no results, so XLA would never run it. Give "
                "out=, in_out= or has_side_effect=True."
            )
        check_method(self.name, vmap_method)
        self._out = out
        self._out_name: str | None = None
        if out is not None:
            self._out_name = outputs_parameter(self._parameters)
            self.__signature__ = without_outputs(self._parameters, self._out_name)
            self._operands.pop(self._out_name, None)
        self._in_out = in_out
        self._vmap_method = vmap_method
        self._has_side_effect = has_side_effect

    def __repr__(self) -> str:
        return f"<live op {self.name}{self.__signature__}>"

    @hide_frames
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Runs the op, now or as part of the program being traced."""
        return self._apply(args, keywords)

    def _primal(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        given = self._sort(args, keywords)
        named = zip(given.names, given.leaves, strict=True)
        arrays = [self._operand(name, value) for name, value in named]
        types = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arrays]
        self._check_call(given)
        out = self._results(given, types)
        shared = self._shared(given)
        results, out_tree = jax.tree.flatten(out)
        call = LiveCall(
            self.name,
            given.function,
            tuple(given.names),
            given.tree,
            out_tree,
            self._out_name,
            tuple(i for leaves in shared for i in jax.tree.leaves(leaves)),
            self._hashable(given.static),
            enabled(),
        )
        run = buffer_callback(
            call,
            (*(types[i] for i in call.in_out), *results),
            has_side_effect=self._has_side_effect,
            vmap_method=self._vmap_method,
            input_output_aliases={i: n for n, i in enumerate(call.in_out)},
        )
        if any(map(is_tracer, arrays)):  # costly, and only traces are transformed
            run = transformable(self.name, run, call.in_out, self._vmap_method)
        if call.checked:
            run = waiting(run)
        axes = varying_axes(map(jax.typeof, arrays))
        values = iter(vary_over(axes, run(*arrays)))
        returned = [jax.tree.map(lambda _: next(values), x) for x in shared]
        if self._out is not None:
            returned.append(out_tree.unflatten(values))
        return returned[0] if len(returned) == 1 else tuple(returned)

    def _hashable(self, static: Mapping[str, Any]) -> tuple[StaticArgument, ...]:
        for key, value in static.items():
            try:
                hash(value)
            except TypeError:
                raise SignatureError(
                    f"{self.name}: keyword argument '{key}' is {describe(value)}; "
                    "static arguments of a live op need to be hashable. Use a tuple, "
                    "or pass arrays by position."
                ) from None
        return tuple((key, repr(value), value) for key, value in static.items())

    def _operand(self, name: str, value: Any) -> jax.Array:
        if isinstance(value, Ref):
            raise SessionError(
                f"{self.name}: operand '{name}' is {value!r}; a live op takes arrays. "
                "Call it beside the other op, from a jitted function."
            )
        owner = f"{self.name}: operand '{name}'"
        array, type_ = check_operand(owner, value)
        check_dtype(owner, type_.dtype)
        return array if isinstance(array, jax.Array) else jnp.asarray(array)

    def _results(self, call: SortedCall, types: Sequence[Any]) -> Any:
        out = self._out
        if callable(out):
            positional, named = call.tree.unflatten(types)
            names = ["self"] * len(call.receiver)
            names += self._argument_names(len(positional))
            args = (*call.receiver, *positional)
            out = ask(self.name, "out", out, names, args, named | call.static)
        for leaf in jax.tree.leaves(out):
            if not hasattr(leaf, "shape") or not hasattr(leaf, "dtype"):
                raise SignatureError(
                    f"{self.name}: out has {type(leaf).__name__}, which has no shape "
                    "and dtype. Give jax.ShapeDtypeStruct(shape, dtype)."
                )
            check_dtype(f"{self.name}: a result", np.dtype(leaf.dtype), "Write that")
        return out

    def _check_call(self, call: SortedCall) -> None:
        """Finds now what would fail when the program runs."""
        positional, named = call.tree.unflatten(call.leaves)
        keywords = named | call.static
        try:
            self.__signature__.bind(*call.receiver, *positional, **keywords)
        except TypeError as error:
            with_out = "" if self._out is None else ", then the outputs"
            operands = counted(len(positional) + len(named), "operand")
            raise SignatureError(
                f"{self.name}: {error}. The function gets the session, "
                f"{operands}{with_out}."
            ) from None

    def _shared(self, call: SortedCall) -> list[Any]:
        """The arguments of `in_out`, with the numbers of the operands as leaves."""
        positional, named = call.tree.unflatten(range(call.tree.num_leaves))
        names = self._argument_names(len(positional))
        operands = dict(zip(names, positional, strict=True)) | named
        for name in self._in_out:
            if name not in operands:
                raise ValidationError(
                    f"{self.name}: in_out names '{name}'; the operands are "
                    f"{', '.join(operands) or 'none'}."
                )
        return [operands[name] for name in self._in_out]
