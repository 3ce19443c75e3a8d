"""What a user's rule for derivatives is asked, and how its answer is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.custom_derivatives import CustomVJPPrimal

from .._base.callbacks import ask
from .._base.errors import SignatureError, counted
from .._types.arrays import describe
from .calls import Call
from .tangents import fit, or_none, zeros


@dataclass(frozen=True, slots=True)
class ReverseRule:
    """What `defvjp` was given."""

    fwd: Callable[..., tuple[Any, Any]]
    bwd: Callable[[Any, Any], Sequence[Any]]
    symbolic_zeros: bool

    def results(self, call: Call, operands: Sequence[Any]) -> tuple[Any, Any]:
        """Asks `fwd`; returns results and residuals, whose leaves are arrays."""
        args, keywords = call.passed(call.place(operands, call.args))
        made = ask(call.name, "fwd", self.fwd, call.names, args, keywords)
        results, residuals = _pair(f"{call.name}: fwd", made, "(results, residuals)")
        return results, jax.tree.map(_hold, residuals)

    def cotangents(
        self,
        call: Call,
        types: Sequence[Any],
        residuals: Any,
        cotangents: Any,
        zero: Callable[[Any], Any],
    ) -> tuple[Any, ...]:
        """Asks `bwd`; returns one cotangent per operand.

        Args:
          call: Of the function that has the rule.
          types: Of the operands.
          residuals: From `results`.
          cotangents: Of the results, with JAX's zeros for integers.
          zero: Makes the zero that stands for None, of an abstract array.
        """
        given = (
            jax.tree.map(_release, residuals, is_leaf=_is_held),
            jax.tree.map(or_none, cotangents),
        )
        made = ask(call.name, "bwd", self.bwd, ("residuals", "cotangents"), given, {})
        owner = f"{call.name}: bwd"
        return tuple(
            fit(owner, f"cotangent of operand '{name}'", type_, x, zero)
            for name, type_, x in zip(
                call.operand_names, types, _per_operand(call, made), strict=True
            )
        )


@dataclass(frozen=True, slots=True)
class ForwardRule:
    """What `defjvp` was given."""

    rule: Callable[..., tuple[Any, Any]]
    symbolic_zeros: bool

    def results(
        self, call: Call, primals: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Any, Any]:
        """Asks the rule; returns results and their tangents.

        Args:
          call: Of the function that has the rule.
          primals: The operands.
          tangents: Theirs, with JAX's zeros for integers.
        """
        given = (
            call.place(primals, call.args),
            call.place(jax.tree.map(or_none, tangents), [None] * len(call.args)),
        )
        names = "primals", "tangents"
        made = ask(call.name, "rule", self.rule, names, given, call.static)
        owner = f"{call.name}: rule"
        results, moved = _pair(owner, made, "(results, tangents)")
        types = jax.tree.map(jax.typeof, results)
        return results, fit(owner, "tangent of the results", types, moved, zeros)


def _pair(owner: str, made: Any, form: str) -> tuple[Any, Any]:
    if not isinstance(made, tuple | list) or len(made) != 2:
        raise SignatureError(f"{owner} returned {_spell(made)}; it returns {form}.")
    return made[0], made[1]


def _per_operand(call: Call, made: Any) -> Sequence[Any]:
    """Leaves out the cotangents of static arguments."""
    operands = ", ".join(call.operand_names)
    if not isinstance(made, tuple | list):
        raise SignatureError(
            f"{call.name}: bwd returned {_spell(made)}; it returns a tuple with one "
            f"cotangent per operand ({operands}), None for zero."
        )
    if len(made) == len(call.args):
        return [made[i] for i in call.operands]
    if len(made) != len(call.operands):
        raise SignatureError(
            f"{call.name}: bwd returned {counted(len(made), 'cotangent')}, but the "
            f"operands are {operands}. Return one for each, in this order, None for "
            "zero."
        )
    return made


def _spell(value: Any) -> str:
    return describe(value) if value is not None else "nothing"


@jax.tree_util.register_static
@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """What is no array of JAX's among the residuals: part of their structure.

    So a static number is still static in `bwd`, and can decide a shape.
    """

    value: Any

    def __eq__(self, other: object) -> bool:
        return type(other) is _Held and _same(self.value, other.value)

    def __hash__(self) -> int:
        return hash(type(self.value))


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        kind = one.dtype == other.dtype and one.shape == other.shape
        return bool(kind and one.tobytes() == other.tobytes())
    # By text, too: NaN is itself here, and 0.0 is not -0.0.
    return bool(repr(one) == repr(other) or one == other)


def _hold(leaf: Any) -> Any:
    return leaf if isinstance(leaf, jax.Array | CustomVJPPrimal) else _Held(leaf)


def _release(leaf: Any) -> Any:
    return leaf.value if _is_held(leaf) else leaf


def _is_held(leaf: Any) -> bool:
    return isinstance(leaf, _Held)
