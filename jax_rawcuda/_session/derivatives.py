"""defvjp and defjvp: derivatives of kernels and ops, by rules of the user's.

`jax.custom_vjp` and `jax.custom_jvp` do the work. Added is what they leave to their
users: static arguments, the derivatives of integers, operands that are replicated over
a mesh, and rules for both modes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from .._base.compat import says_no_forward_mode
from .._base.errors import SignatureError, UnsupportedError, ValidationError
from .calls import Call, Callee, is_traced
from .rules import ForwardRule, ReverseRule
from .tangents import split, zeros


class Differentiable(Callee):
    """What can be given rules for derivatives."""

    _reverse: ReverseRule | None = None
    _forward: ForwardRule | None = None

    def defvjp(
        self,
        fwd: Callable[..., tuple[Any, Any]],
        bwd: Callable[[Any, Any], Sequence[Any]],
        symbolic_zeros: bool = False,
    ) -> None:
        """Declares the derivative for reverse mode, as `jax.custom_vjp.defvjp` does.

        Args:
          fwd: `(*args, **static) -> (results, residuals)`, called as this is: with the
            arguments in the order of the parameters, static ones in their places.
          bwd: `(residuals, cotangents) -> (cotangent, ...)`: one cotangent per operand,
            in order, None for zero. Those of static arguments may be left out or given;
            integers have none. What `fwd` left in the residuals comes as it was: a
            static number is still a Python number. Cotangents have the structure of the
            results, with None for results that are integers.
          symbolic_zeros: Whether `fwd` is told which operands are differentiated, and
            `bwd` which cotangents are zero, in the way of `jax.custom_vjp`. Without it
            zeros are arrays of zeros.

        `fwd` and `bwd` may call this, and have derivatives where what they call has.
        Forward mode is an error until `defjvp` gives it a rule, too.

        Raises:
          SignatureError: One is no function.
        """
        for what, function in (("fwd", fwd), ("bwd", bwd)):
            self._check_rule("defvjp", what, function)
        self._check_zeros(symbolic_zeros, self._forward)
        self._reverse = ReverseRule(fwd, bwd, symbolic_zeros)

    def defjvp(
        self, rule: Callable[..., tuple[Any, Any]], symbolic_zeros: bool = False
    ) -> Callable[..., tuple[Any, Any]]:
        """Declares the derivative for both modes, as `jax.custom_jvp.defjvp` does.

        Args:
          rule: `(primals, tangents, **static) -> (results, tangents of the results)`.
            Both tuples have one entry per positional argument; the tangents of static
            ones and of integers are None, and may be so for results that are integers.
          symbolic_zeros: Whether tangents may be `SymbolicZero`, as for
            `jax.custom_jvp`. Without it zeros are arrays of zeros.

        Reverse mode takes the rule of `defvjp`, if there is one. Else it transposes
        what this rule does to the tangents: kernels that are called on them need a
        transpose of their own, by `rc.linear`.

        Returns:
          The rule, so that this is a decorator.

        Raises:
          SignatureError: It is no function.
        """
        self._check_rule("defjvp", "rule", rule)
        self._check_zeros(symbolic_zeros, self._reverse)
        self._forward = ForwardRule(rule, symbolic_zeros)
        return rule

    def _check_rule(self, method: str, what: str, rule: Any) -> None:
        if not callable(rule):
            raise SignatureError(
                f"{self.name}: {method} needs a function as {what}, got {rule!r}."
            )

    def _check_zeros(self, symbolic: bool, other: Any) -> None:
        if other is not None and (symbolic or other.symbolic_zeros):
            raise ValidationError(
                f"{self.name}: symbolic_zeros=True stands beside rules for both modes, "
                "which pass on arrays only. Leave it out, or declare one rule."
            )

    def _primal(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Calls without these rules."""
        raise NotImplementedError

    def _apply(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Calls with the rules, where one may be asked."""
        forward, reverse = self._forward, self._reverse
        ruled = forward is not None or reverse is not None
        if ruled and is_traced(args, keywords):
            call = self._arrange(args, keywords)
            if forward is not None:
                return _in_both_modes(call, self._primal, forward, reverse)
            if reverse is not None:
                return _in_reverse_mode(call, self._primal, reverse)
        return self._primal(args, keywords)


Run = Callable[[Sequence[Any], Mapping[str, Any]], Any]


def _of_operands(call: Call, run: Run) -> Callable[..., Any]:
    def function(*operands: Any) -> Any:
        return run(*call.passed(call.place(operands, call.args)))

    function.__name__ = call.name  # for JAX, which prints it
    return function


def _in_reverse_mode(call: Call, run: Run, rule: ReverseRule) -> Any:
    operands = call.arrays()
    types = jax.tree.map(jax.typeof, operands)

    def fwd(*operands: Any) -> Any:
        return rule.results(call, operands)

    def bwd(residuals: Any, cotangents: Any) -> tuple[Any, ...]:
        return rule.cotangents(call, types, residuals, cotangents, lambda _: None)

    fwd.__name__ = bwd.__name__ = call.name
    differentiable = jax.custom_vjp(_of_operands(call, run))
    differentiable.defvjp(fwd, bwd, symbolic_zeros=rule.symbolic_zeros)
    try:
        return differentiable(*operands)
    except TypeError as error:
        if not says_no_forward_mode(error):
            raise
        raise UnsupportedError(
            f"{call.name} has a differentiation rule for reverse mode only. Use "
            "jax.grad, jax.vjp or jax.jacrev, or give it a rule for forward mode, with "
            "defjvp(rule), too."
        ) from None


def _in_both_modes(
    call: Call, run: Run, forward: ForwardRule, reverse: ReverseRule | None
) -> Any:
    def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        if reverse is None:
            return forward.results(call, primals, tangents)
        return _two_rules(call, forward, reverse, primals, tangents)

    jvp.__name__ = call.name
    differentiable = jax.custom_jvp(_of_operands(call, run))
    differentiable.defjvp(jvp, symbolic_zeros=forward.symbolic_zeros)
    return differentiable(*call.arrays())


def _two_rules(
    call: Call,
    forward: ForwardRule,
    reverse: ReverseRule,
    primals: Sequence[Any],
    tangents: Sequence[Any],
) -> tuple[Any, Any]:
    """Maps tangents by one rule, with the other one as the transpose of the map."""
    # Not on import: primitives need jax.extend, which is slow to load.
    from .._xla.opaque import call_opaque

    results, residuals = reverse.results(call, primals)
    types = jax.tree.map(jax.typeof, primals)
    held, structure = jax.tree.flatten((primals, residuals))
    moving, as_tangents = split(tangents)
    moved, as_results = split(results)
    if not moved:
        return results, as_results(())

    def move(held: Sequence[Any], moving: Sequence[Any]) -> list[Any]:
        primals, _ = structure.unflatten(held)
        return split(forward.results(call, primals, as_tangents(moving))[1])[0]

    def turn(held: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        _, residuals = structure.unflatten(held)
        given = as_results(cotangents)
        return split(reverse.cotangents(call, types, residuals, given, zeros))[0]

    return results, as_results(call_opaque(call.name, move, held, moving, turn))
