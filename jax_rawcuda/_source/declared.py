"""Signatures that the user writes, for images that do not tell their own."""

from __future__ import annotations

import dataclasses
import re

from .._base.errors import SignatureError
from .._base.text import top_level_parts
from .declarations import find_kernels
from .parameters import drop_extents, parameter_name
from .tokens import tokenize

_ALIASES = {
    **{f"int{bits}_t": name for bits, name in ((16, "short"), (32, "int"))},
    **{f"uint{bits}_t": f"unsigned {n}" for bits, n in ((16, "short"), (32, "int"))},
    "int8_t": "signed char",
    "uint8_t": "unsigned char",
    "int64_t": "long long",
    "uint64_t": "unsigned long long",
    "size_t": "unsigned long",
    "half": "__half",
    "half2": "__half2",
    "nv_bfloat16": "__nv_bfloat16",
    "nv_bfloat162": "__nv_bfloat162",
    "cuFloatComplex": "float2",
    "cuComplex": "float2",
    "cuDoubleComplex": "double2",
}
_LAUNCH_BOUNDS = re.compile(r"__launch_bounds__\s*\([^)]*\)")
_FUNDAMENTAL = {"signed", "unsigned", "char", "short", "int", "long"}
_DROPPED = {"struct", "enum", "class", "union", "typename", "volatile"}
_NOT_IN_TYPES = set("()[]{}=;")
_RESTRICT = {"restrict", "__restrict__", "__restrict", "__grid_constant__"}


@dataclasses.dataclass(frozen=True, slots=True)
class Declared:
    """A kernel as the user declares it; types in the compiler's spelling."""

    kernel: str
    types: tuple[str, ...]
    names: tuple[str | None, ...]


def parse_signature(text: str) -> Declared:
    """Reads `saxpy(const float* x, float, float*)`."""
    declaration = _LAUNCH_BOUNDS.sub("", text).strip().rstrip(";")
    head, opened, rest = declaration.partition("(")
    if not opened or not rest.endswith(")") or not head.strip():
        raise SignatureError(
            f"signature {text!r}: a declaration is needed, "
            'such as "saxpy(const float* x, float a, float* out, int n)".'
        )
    if "__global__" not in head:
        declaration = f"__global__ {declaration}"
    kernels = find_kernels(declaration)
    if len(kernels) != 1:
        raise SignatureError(f"signature {text!r}: one kernel's declaration is needed.")
    parameters = top_level_parts(tokenize(rest[:-1]))
    if parameters == [["void"]]:
        parameters = []
    types = tuple(_spell(text, tokens) for tokens in parameters)
    return Declared(kernels[0].name, types, kernels[0].parameters)


def canonical_type(text: str) -> str:
    """Returns a parameter's type, with or without a name, as a demangler writes it.

    What is no type that a user could declare stays as it is, without spaces.
    """
    try:
        return _spell(text, tokenize(text))
    except SignatureError:
        return "".join(text.split())


def _spell(text: str, tokens: list[str]) -> str:
    """Returns a parameter's type as a demangler writes it."""
    words = tokens[: tokens.index("=")] if "=" in tokens else list(tokens)
    name = parameter_name(words)
    if name is not None:
        del words[len(words) - 1 - words[::-1].index(name)]
    scalar = drop_extents(words)
    suffix = (
        ["*"] if len(scalar) < len(words) else []
    )  # an array is passed as a pointer
    words = [*(word for word in scalar if word not in _RESTRICT | _DROPPED), *suffix]
    end = next((i for i, word in enumerate(words) if word in "*&"), len(words))
    base, declarator = words[:end], words[end:]
    const = " const" if "const" in base and declarator else ""
    base = [word for word in base if word != "const"]
    if not base or not _NOT_IN_TYPES.isdisjoint(words):
        spelled = " ".join(tokens) or "nothing"
        raise SignatureError(
            f"signature {text!r}: `{spelled}` is no parameter of a kernel. Write a "
            "type, its pointers and a name."
        )
    while declarator and declarator[-1] == "const":
        declarator.pop()
    spelled = "".join(" const" if word == "const" else word for word in declarator)
    return f"{_base(base)}{const}{spelled}"


def _base(words: list[str]) -> str:
    if not _FUNDAMENTAL.issuperset(words):
        joined = "".join(", " if word == "," else word for word in words)
        return _ALIASES.get(joined.removeprefix("std::"), joined)
    sign = "unsigned " if "unsigned" in words else ""
    if "char" in words:
        return "signed char" if "signed" in words else f"{sign}char"
    if "short" in words:
        return f"{sign}short"
    longs = " ".join(word for word in words if word == "long")
    return sign + (longs or "int")
