"""Operations that are written once as LLVM functions and inlined where they are used.

A family adds the text of its functions at import; `invoke` brings a function, and the
functions it calls, into the module under translation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...emit.emitter import Emitter

PREFIX = "jrc."
_HEADER = re.compile(r"define (\S+) @(\S+?)\((.*)\) \{\n")
_CALL = re.compile(r"call (\{[^}]*\}|<[^>]*>|\S+) @([\w.]+)\(([^)]*)\)")


@dataclass(frozen=True, slots=True)
class Function:
    """One function of the library.

    Attributes:
      text: Its LLVM definition.
      result: LLVM type of its value.
      parameters: LLVM types of its parameters.
      callees: What it calls: (name, result type, parameter types).
    """

    text: str
    result: str
    parameters: tuple[str, ...]
    callees: tuple[tuple[str, str, tuple[str, ...]], ...]


_FUNCTIONS: dict[str, Function] = {}


def add(text: str) -> None:
    """Adds functions, written as `define TYPE @jrc.NAME(TYPE %a, ...) {` ... `}`."""
    for piece in text.split("define ")[1:]:
        body = "define " + piece.rstrip()
        header = _HEADER.match(body)
        if header is None:
            raise ValueError(f"no function header in {body[:80]!r}")
        result, name, parameters = header.groups()
        callees = tuple(
            (callee, kind, _types(arguments))
            for kind, callee, arguments in _CALL.findall(body)
        )
        internal = f"define internal {result} @{name}({parameters}) alwaysinline {{\n"
        body = body.replace(header[0], internal)
        _FUNCTIONS[name] = Function(body, result, _types(parameters), callees)


def _types(parameters: str) -> tuple[str, ...]:
    return tuple(item.rsplit(" ", 1)[0] for item in parameters.split(", ") if item)


def _bring(em: Emitter, name: str) -> Function:
    function = _FUNCTIONS[name]
    if name not in em.state.definitions:
        em.define(name, function.text)
        for callee, result, parameters in function.callees:
            if callee.startswith(PREFIX):
                _bring(em, callee)
            else:
                em.declare(callee, result, *parameters)
    return function


def exists(name: str) -> bool:
    """Whether the library has a function."""
    return name in _FUNCTIONS


def invoke(em: Emitter, name: str, *values: str) -> str:
    """Calls a library function.

    Args:
      em: The emitter of the calling function.
      name: Such as `jrc.min.f32`.
      *values: One value per parameter, of the parameter's type.

    Returns:
      The function's value.
    """
    function = _bring(em, name)
    arguments = ", ".join(
        f"{kind} {value}"
        for kind, value in zip(function.parameters, values, strict=True)
    )
    return em.op(f"call {function.result} @{name}({arguments})")
