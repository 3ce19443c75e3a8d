"""Turns what a session recorded, and what its op returned, into a Plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp

from .._base.checked_mode import enabled
from .._base.errors import SessionError, SignatureError, ValidationError
from .._plan.commands import BufferRef, Command, Space, relocate
from .._plan.labels import Labels
from .._plan.plan import Plan
from .._types.arrays import ArrayType
from .recorder import Recorder
from .refs import Buffer, BufferKind, Ref, buffer_of, is_whole

_LEAST_WORKSPACE = 1  # byte; an empty result has no address to point to


@dataclass(frozen=True, slots=True)
class Recording:
    """A plan, and where each leaf of what the op returned comes from."""

    plan: Plan
    leaves: tuple[BufferRef, ...]
    tree: jax.tree_util.PyTreeDef

    def unpack(self, results: Sequence[Any], operands: Sequence[Any]) -> Any:
        """Builds what the op returns; an operand returned unchanged is passed on."""
        spaces = {Space.RESULT: results, Space.OPERAND: operands}
        found = [spaces[x.space][x.index] for x in self.leaves]
        arrays = [x if isinstance(x, jax.Array) else jnp.asarray(x) for x in found]
        return self.tree.unflatten(arrays)


def finish(session: Recorder, returned: Any) -> Recording:
    """Makes the plan: numbers the results and checks that they are written.

    Args:
      session: Still open.
      returned: What the op returned, a pytree of references.

    Raises:
      SignatureError: The op returned something else than references.
      SessionError: A reference of another session, or a part of an array.
      ValidationError: Nothing writes a result, or there is none.
    """
    leaves, tree = jax.tree.flatten(returned)
    buffers = [_check_result(session, leaf) for leaf in leaves]
    in_place = [b.in_place for b, _ in session.operands if b.in_place is not None]
    visible = [b for b in buffers if b.kind is BufferKind.RESULT]
    # A shared buffer is a result even when nobody wants the new value.
    visible = list(dict.fromkeys([*visible, *map(buffer_of, in_place)]))
    if session.commands and not buffers and not session.has_side_effect:
        raise ValidationError(
            f"{session.op_name}: it has no results, so XLA would never run it. Give "
            "the kernel out= or in_out=, return a result from the op, or say "
            "has_side_effect=True."
        )
    hidden = [b for b in session.buffers if b not in visible]
    number = {b.index: i for i, b in enumerate([*visible, *hidden])}
    plan = Plan(
        op_name=session.op_name,
        operands=tuple(_type(b) for b, _ in session.operands),
        results=tuple(map(_type, visible)),
        commands=tuple(_renumber(c, number) for c in session.commands),
        workspaces=tuple(max(_type(b).nbytes, _LEAST_WORKSPACE) for b in hidden),
        alignments=tuple(b.align for b in hidden),
        aliases=tuple(
            (b.index, number[buffer_of(b.in_place).index])
            for b, _ in session.operands
            if b.in_place is not None
        ),
        labels=_labels(session, [*visible, *hidden]) if enabled() else None,
        has_side_effect=session.has_side_effect,
    )
    places = tuple(
        BufferRef(Space.RESULT, number[b.index])
        if b.kind is BufferKind.RESULT
        else BufferRef(Space.OPERAND, b.index)
        for b in buffers
    )
    return Recording(plan, places, tree)


def _labels(session: Recorder, results: Sequence[Buffer]) -> Labels:
    return Labels(
        tuple(buffer.name for buffer, _ in session.operands),
        tuple(buffer.name for buffer in results),
    )


def _type(buffer: Buffer) -> ArrayType:
    return ArrayType(buffer.shape, buffer.dtype)


def _check_result(session: Recorder, leaf: Any) -> Buffer:
    name = session.op_name
    if not isinstance(leaf, Ref):
        raise SignatureError(
            f"{name}: returned {type(leaf).__name__}; an op returns references, such "
            "as s.alloc_output(...), in any pytree."
        )
    buffer = buffer_of(leaf)
    if buffer.session is not session:
        raise SessionError(f"{name}: returned {leaf!r}, which is of another session.")
    if buffer.kind is BufferKind.WORKSPACE or not is_whole(leaf):
        raise SessionError(
            f"{name}: returned {leaf!r}, a part of an array or a workspace. Allocate "
            "results with s.alloc_output."
        )
    if buffer.in_place is not None:
        return buffer_of(buffer.in_place)
    if not buffer.written and leaf.size:
        raise ValidationError(
            f"{name}: result '{buffer.name}' is never written: no launch with threads, "
            "copy or fill touches it. Launch a kernel on it, or allocate it with fill=."
        )
    return buffer


def _renumber(command: Command, number: dict[int, int]) -> Command:
    def move(ref: BufferRef) -> BufferRef:
        if ref.space is Space.OPERAND:
            return ref
        return replace(ref, index=number[ref.index])

    return relocate(command, move)
