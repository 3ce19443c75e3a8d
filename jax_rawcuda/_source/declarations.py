"""Finds the `__global__` functions that a text spells out, without a compiler."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator, Sequence

from .._base.text import BRACKETS, top_level_parts
from .parameters import ATTRIBUTES, parameter_name
from .tokens import tokenize

Names = tuple[str | None, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class KernelDeclaration:
    """A `__global__` function, as far as the text alone tells.

    Attributes:
      name: Qualified, such as `ns::scale`.
      parameters: Names in order, None where the text gives none.
      template: Whether it needs template arguments.
      c_linkage: Whether it is declared `extern "C"`.
      specialises: Whether it is a template's specialisation, `k<float>`.
      short_name: The name without inline namespaces, where there are some.
      texts: The parameters as they are declared, such as `const T * x`.
    """

    name: str
    parameters: Names
    template: bool = False
    c_linkage: bool = False
    specialises: bool = False
    short_name: str = ""
    texts: tuple[str, ...] = dataclasses.field(default=(), compare=False)

    def is_named(self, name: str) -> bool:
        """Whether C++ finds it under a qualified name."""
        return name in (self.name, self.short_name)


def find_kernels(
    *texts: str, macros: Collection[str] = ()
) -> tuple[KernelDeclaration, ...]:
    """Lists the kernels of all texts; a declaration and its definition count once.

    No macro is expanded, and no `#if` decided but those of 0 and 1. So this is a guess:
    the compiler's list of entries completes and corrects it. A parameter has a name
    only where all declarations agree.

    Args:
      texts: Each on its own: a bracket left open in one ends with it.
      macros: Names that are no names of parameters; the texts' own are known.
    """
    own = (name for text in texts for name in _DEFINE.findall(text))
    known = frozenset(macros).union(own)
    scanned = [k for t in texts for k in _Scanner(tokenize(t), known).kernels()]
    found: dict[tuple[str, int], KernelDeclaration] = {}
    # A specialisation is no kernel of its own, but it may have other names.
    for kernel in sorted(scanned, key=lambda kernel: kernel.specialises):
        key = kernel.name, len(kernel.parameters)
        if key in found:
            found[key] = _merge(found[key], kernel)
        elif not kernel.specialises:
            found[key] = kernel
    return tuple(found.values())


_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)


@dataclasses.dataclass(frozen=True, slots=True)
class _Scope:
    """Between the braces of a namespace, or of `extern "C"`."""

    namespace: str = ""
    inline: bool = False
    c_linkage: bool = False


class _Scanner:
    """Walks the declarations at namespace scope; function bodies are stepped over."""

    def __init__(self, tokens: list[str], macros: Collection[str] = ()) -> None:
        self._tokens = tokens
        self._macros = macros
        self._at = 0
        self._scopes: list[_Scope] = []

    def kernels(self) -> Iterator[KernelDeclaration]:
        template = c_linkage = False
        while (token := self._next()) is not None:
            if token == "namespace":
                self._enter_namespace()
            elif token == "extern" and self._peek() == '"C"':
                self._at += 1
                if self._peek() == "{":
                    self._at += 1
                    self._scopes.append(_Scope(c_linkage=True))
                else:
                    c_linkage = True
            elif token == "template":
                if self._peek() == "<":
                    self._at += 1
                    template = bool(self._skip_balanced("<")) or template
                else:  # an explicit instantiation declares nothing new
                    self._skip_past({";"})
            elif token == "__global__":
                kernel = self._kernel(template, c_linkage)
                if kernel is not None:
                    yield kernel
                template = c_linkage = False
            elif token == "{":
                self._skip_balanced("{")
                template = c_linkage = False
            elif token == "}":
                if self._scopes:
                    self._scopes.pop()
            elif token == ";":
                template = c_linkage = False

    def _kernel(self, template: bool, c_linkage: bool) -> KernelDeclaration | None:
        name: list[str] = []
        specialises = False
        while (token := self._next()) not in (None, ";", "{", "}"):
            attribute = token in ATTRIBUTES or token in self._macros
            if attribute and self._peek() == "(":
                self._at += 1
                self._skip_balanced("(")
            elif token == "[":
                self._skip_balanced("[")
            elif token == "(" and name:
                parameters = _parameters(self._skip_balanced("("))
                named = [scope for scope in self._scopes if scope.namespace]
                visible = [s.namespace for s in named if not s.inline]
                return KernelDeclaration(
                    "::".join([*(s.namespace for s in named), *name]),
                    tuple(parameter_name(p, self._macros) for p in parameters),
                    template,
                    c_linkage or any(s.c_linkage for s in self._scopes),
                    specialises,
                    "::".join([*visible, *name]) if len(visible) < len(named) else "",
                    tuple(map(" ".join, parameters)),
                )
            elif token == "<" and name:
                self._skip_balanced("<")
                specialises = True
            elif token != "::":
                joined = self._at >= 2 and self._tokens[self._at - 2] == "::"
                name = [*name, token] if joined and name else [token]
        self._at -= token in ("{", "}")
        return None

    def _enter_namespace(self) -> None:
        names: list[str] = []
        inline = self._at >= 2 and self._tokens[self._at - 2] == "inline"
        while (token := self._next()) not in (None, ";", "{"):
            if token == "[":
                self._skip_balanced("[")
            elif token is not None and token not in ("::", "inline", "]"):
                names.append(token)
        if token == "{":
            self._scopes.append(_Scope("::".join(names), inline))

    def _next(self) -> str | None:
        token = self._peek()
        self._at += token is not None
        return token

    def _peek(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _skip_past(self, ends: set[str]) -> None:
        while (token := self._next()) is not None and token not in ends:
            pass

    def _skip_balanced(self, opening: str) -> list[str]:
        """Steps past the partner of `opening`; returns what is between."""
        start, depth, closing = self._at, 1, BRACKETS[opening]
        nested = 0  # `(` inside `<`: a `>` there compares
        while (token := self._next()) is not None:
            if opening == "<" and token in "()":
                nested += 1 if token == "(" else -1
            if token == opening and not nested:
                depth += 1
            elif token == closing and not nested:
                depth -= 1
                if depth == 0:
                    return self._tokens[start : self._at - 1]
        return self._tokens[start:]


def _parameters(tokens: Sequence[str]) -> list[list[str]]:
    parameters = top_level_parts([*tokens])
    return [] if parameters == [["void"]] else parameters


def _merge(first: KernelDeclaration, second: KernelDeclaration) -> KernelDeclaration:
    """Joins two declarations; a parameter with two names has none."""
    names = tuple(
        (a or b) if None in (a, b) or a == b else None
        for a, b in zip(first.parameters, second.parameters, strict=True)
    )
    c_linkage = first.c_linkage or second.c_linkage
    template = first.template or second.template
    return dataclasses.replace(
        first, parameters=names, template=template, c_linkage=c_linkage
    )
