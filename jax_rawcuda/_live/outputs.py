"""Which parameter of a live op's function is for its outputs."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def outputs_parameter(signature: inspect.Signature) -> str:
    """Returns the name of the parameter that takes the outputs.

    It is `out`, else the last that a call must pass by position, else the last that it
    may. With `*args` and no `out`, or where it has no name for callers, the outputs are
    the last positional argument, and this returns "".
    """
    parameters = signature.parameters
    if (named := parameters.get("out")) is not None and named.kind in _BY_NAME:
        return "out"
    if any(p.kind is p.VAR_POSITIONAL for p in parameters.values()):
        return ""
    places = [p for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    needed = [p for p in places if p.default is p.empty]
    return next((p.name for p in reversed(needed or places)), "")


def without_outputs(signature: inspect.Signature, name: str) -> inspect.Signature:
    """Returns what a caller passes.

    Args:
      signature: Without the session.
      name: From `outputs_parameter`.
    """
    before: list[inspect.Parameter] = []
    after: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if after or parameter.name == name:
            after.append(parameter)
        else:
            before.append(parameter)
    if not name and before and before[-1].kind is inspect.Parameter.POSITIONAL_ONLY:
        del before[-1]
    # What stands behind the outputs has no place of its own in a call.
    behind = [
        p.replace(kind=p.KEYWORD_ONLY) if p.kind in _BY_NAME else p
        for p in after[1:]
        if p.kind is not p.VAR_POSITIONAL
    ]
    return signature.replace(parameters=[*before, *behind])


def with_outputs(
    args: Sequence[Any], keywords: Mapping[str, Any], name: str | None, outputs: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Adds the outputs to the arguments of a function.

    Args:
      args: By position.
      keywords: By name.
      name: From `outputs_parameter`; None if there are no outputs.
      outputs: A pytree.
    """
    if name is None:
        return tuple(args), dict(keywords)
    if name:
        return tuple(args), {**keywords, name: outputs}
    return (*args, outputs), dict(keywords)
