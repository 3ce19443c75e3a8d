"""rc.op: a function that records a session becomes a function of arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast, overload

import jax
import jax.numpy as jnp
import numpy as np

from .._base.compat import hide_frames
from .._plan.report import PlanReport
from .._types.arrays import check_dtype
from .._xla.inspect import inspect
from .function import Body, SessionFunction
from .recorder import open_session
from .recording import Recording, finish
from .refs import Ref, buffer_of
from .scope import close_session
from .session import Session
from .vmap_rule import VmapRule, call_with_rule, check_rule


@overload
def op(
    function: Body, *, name: str | None = None, has_side_effect: bool = False
) -> Op: ...
@overload
def op(
    function: None = None, *, name: str | None = None, has_side_effect: bool = False
) -> Callable[[Body], Op]: ...
@hide_frames
def op(
    function: Body | None = None,
    *,
    name: str | None = None,
    has_side_effect: bool = False,
) -> Op | Callable[[Body], Op]:
    """Makes a function that records a session callable like any `jnp` function.

    Args:
      function: Its first parameter is the Session; a method's is `self`, and its
        second is the Session. Further positional arguments are arrays or pytrees of
        arrays, and arrive as TensorRefs; they may be passed by name. Other keyword
        arguments are static and arrive as they are. It returns a pytree of outputs.
      name: For messages and profiles; the function's own name by default.
      has_side_effect: Whether it does something that no result shows: then it runs even
        if nobody needs its results, it may have none, equal calls are several, and all
        such calls of a program run in the order it is written in.

    Called with references inside of another op, it records into that op's session.

    Raises:
      SignatureError: An argument is not an array, or does not fit a kernel.
      SessionError: Something outlives its session.
    """
    if function is None:
        return functools.partial(op, name=name, has_side_effect=has_side_effect)
    return Op(function, name, has_side_effect)


class Op(SessionFunction):
    """A recorded function. Made by `rc.op`."""

    _rule: VmapRule | None = None

    def __init__(self, function: Body, name: str | None, has_side_effect: bool) -> None:
        super().__init__(function, name)
        self._has_side_effect = has_side_effect

    def inspect(self, *args: Any, **keywords: Any) -> PlanReport:
        """Says which way each launch would take, without running anything.

        Under a transformation such as `vmap`, ask `rc.inspect(jax.vmap(op), ...)`.

        Args:
          *args: As for a call, or `jax.ShapeDtypeStruct`s.
          **keywords: As for a call.
        """
        return inspect(self, *args, **keywords)[0]

    @hide_frames
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Records the op and returns its results."""
        return self._apply(args, keywords)

    def _primal(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        if self._rule is None or _in_session((args, keywords)):
            return self._record(*args, **keywords)
        return call_with_rule(self.name, self._record, self._rule, args, keywords)

    def def_vmap(self, rule: VmapRule) -> VmapRule:
        """Makes `vmap` call a rule, for an op that batches itself.

        Args:
          rule: `(axis_size, in_batched, *args, **keywords) -> (results, out_batched)`,
            as for `jax.custom_batching.custom_vmap`: `in_batched` and `out_batched`
            have the structure of the arguments and results; batch axes come first.

        Returns:
          The rule, so that this is a decorator.

        Raises:
          SignatureError: It is no function.
        """
        self._rule = check_rule(self.name, rule)
        return rule

    def _record(self, *args: Any, **keywords: Any) -> Any:
        call = self._sort(args, keywords)

        def body(session: Session, *refs: Any) -> Any:
            session.has_side_effect |= self._has_side_effect
            positional, named = call.tree.unflatten(refs)
            return call.function(session, *positional, **named, **call.static)

        return record(self.name, body, call.leaves, names=call.names)


def _in_session(arguments: Any) -> bool:
    return any(isinstance(leaf, Ref) for leaf in jax.tree.leaves(arguments))


def record(
    op_name: str, body: Body, operands: Sequence[Any], *, names: Sequence[str]
) -> Any:
    """Records `body` and runs its plan, or records it into the callers' session.

    Args:
      op_name: For messages.
      body: Takes the session and one reference per operand; returns a pytree of
        references.
      operands: Arrays, as the user gave them, or references of an open session.
      names: Of the operands, for messages.
    """
    outer = next((x for x in operands if isinstance(x, Ref)), None)
    if outer is None:
        return run(*trace(op_name, body, operands, names=names))
    session = cast(Session, buffer_of(outer).session)
    refs = [
        x if isinstance(x, Ref) else session.tensor(x, name=name)
        for x, name in zip(operands, names, strict=True)
    ]
    return body(session, *refs)


def trace(
    op_name: str, body: Body, operands: Sequence[Any], *, names: Sequence[str]
) -> tuple[Recording, list[Any]]:
    """Records `body` in a session of its own.

    Returns:
      The recording, and the arrays to run it on: the operands and what `body` added.
    """
    session = open_session(op_name)
    try:
        refs = [
            session.tensor(x, name=name)
            for x, name in zip(operands, names, strict=True)
        ]
        recording = finish(session, body(session, *refs))
    finally:
        close_session(session)
    for buffer, _ in session.operands:
        # Only now: a kernel that wants another dtype has given the better message.
        check_dtype(f"{op_name}: operand '{buffer.name}'", buffer.dtype)
    return recording, [array for _, array in session.operands]


def run(recording: Recording, operands: Sequence[Any]) -> Any:
    """Runs a recording on arrays and returns the op's results."""
    # Not on import: the primitive needs jax.extend, which is slow to load.
    from .._xla import batching as batching  # registers the rule for vmap
    from .._xla.primitive import bind

    arrays = [x if _is_plain(x) else jnp.asarray(x) for x in operands]
    return recording.unpack(bind(recording.plan, arrays), arrays)


def _is_plain(value: Any) -> bool:
    """Whether JAX takes a value as it is, without the cost of an array of its own."""
    return isinstance(value, jax.Array) or type(value) is np.ndarray
