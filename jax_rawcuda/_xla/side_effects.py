"""Side effects: what JAX is told of them, and the custom calls that have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
from jax.extend.core import Effect
from jax.interpreters import mlir

from .._base.compat import abstract_token, devices_in_view, keep_in_order
from .._base.errors import UnsupportedError


class SideEffect(Effect):  # type: ignore[misc]
    """That something happens which no result of an op shows.

    All of them are equal: programs have them in the order in which they were written.
    """

    def __init__(self, op_name: str = "an op") -> None:  # jax.export makes one of none
        self._op_name = op_name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SideEffect)

    def __hash__(self) -> int:
        return hash(SideEffect)

    def __repr__(self) -> str:
        return f"side effect of {self._op_name}"


keep_in_order(SideEffect)


def emit_call(
    ctx: Any,
    target: str,
    operands: Sequence[Any],
    attributes: Mapping[str, Any],
    *,
    avals_out: Sequence[Any],
    aliases: Mapping[int, int],
    effect: SideEffect | None,
) -> Sequence[Any]:
    """Lowers to one custom call.

    Args:
      ctx: Of the lowering rule.
      target: Of the call.
      operands: Values.
      attributes: Of the call.
      avals_out: Of its results.
      aliases: Operands that share their buffers with results, by number.
      effect: What it has. Then it takes the token of the call before, and its own goes
        to the next: XLA orders calls by nothing else.

    Returns:
      The results.
    """
    before = [] if effect is None else [ctx.tokens_in.get(effect)]
    token, shift = [abstract_token() for _ in before], len(before)
    rule = jax.ffi.ffi_lowering(
        target,
        operand_output_aliases={i + shift: o + shift for i, o in aliases.items()}
        or None,
        has_side_effect=bool(before),
    )
    whole = ctx.replace(
        avals_in=[*token, *ctx.avals_in], avals_out=[*token, *avals_out]
    )
    results = list(rule(whole, *before, *operands, **attributes))
    if effect is not None:
        after = mlir.TokenSet({effect: results.pop(0)})
        ctx.set_tokens_out(ctx.tokens_in.update_tokens(after))
    return results


def check_place(ctx: Any, op_name: str) -> None:
    """Refuses a side effect in a program that XLA spreads over devices as it likes.

    Args:
      ctx: Of the lowering rule.
      op_name: For the message.

    Raises:
      UnsupportedError: The program runs on several devices, outside of `shard_map`.
    """
    if (devices := devices_in_view(ctx)) > 1:
        raise UnsupportedError(
            f"{op_name}: it has side effects in a program that runs on {devices} "
            "devices, and nothing says on which of them. Call it in jax.shard_map over "
            "all axes of the mesh: it happens once per device."
        )
