"""Finds the `__global__` functions that a text spells out, without a compiler."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Sequence

Names = tuple[str | None, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class KernelDeclaration:
    """A `__global__` function, as far as the text alone tells.

    Attributes:
      name: Qualified, such as `ns::scale`.
      parameters: Names in order, None where the text gives none.
      template: Whether it needs template arguments.
      c_linkage: Whether it is declared `extern "C"`.
    """

    name: str
    parameters: Names
    template: bool = False
    c_linkage: bool = False


def find_kernels(source: str) -> tuple[KernelDeclaration, ...]:
    """Lists the kernels of `source`; a declaration and its definition count once.

    No macro is expanded and no `#if` decided, so this is a guess: the compiler's list
    of entries completes and corrects it.
    """
    found: dict[tuple[str, int], KernelDeclaration] = {}
    for kernel in _Scanner(tokenize(source)).kernels():
        key = kernel.name, len(kernel.parameters)
        found[key] = _merge(found[key], kernel) if key in found else kernel
    return tuple(found.values())


_COMMENT_OR_LITERAL = re.compile(
    r"""//(?:[^\n\\]|\\.)*|/\*.*?\*/|\b\d(?:'?\w|\.)*
      |R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"
      |"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""",
    re.DOTALL | re.VERBOSE,
)
_TOKEN = re.compile(
    r"""
    (?P<skip>  //(?:[^\n\\]|\\.)* | /\*.*?\*/ | \s+ | \\\n )
  | (?P<text>  R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"
             | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
  | (?P<directive> \#(?: //[^\n]* | /\*.*?\*/ | [^\n\\] | \\. )* )
  | (?P<token> [A-Za-z_]\w* | [0-9](?:[\w.']|[eEpP][+-])* | :: | . )
    """,
    re.DOTALL | re.VERBOSE,
)

_OPEN = {"(": ")", "[": "]", "{": "}", "<": ">"}
_ATTRIBUTES = {
    "__launch_bounds__",
    "__cluster_dims__",
    "__block_size__",
    "__maxnreg__",
    "__attribute__",
    "__declspec",
    "alignas",
}
_QUALIFIERS = {
    "const",
    "volatile",
    "restrict",
    "__restrict__",
    "__restrict",
    "__grid_constant__",
    "struct",
    "enum",
    "class",
    "union",
    "typename",
}
_TYPE_WORDS = {
    *("void", "bool", "char", "short", "int", "long", "float", "double", "auto"),
    *("signed", "unsigned"),
}


def tokenize(source: str) -> list[str]:
    """Splits into tokens, without comments and directives; literals keep quotes."""
    return [
        match[0]
        for match in _TOKEN.finditer(source)
        if match.lastgroup in ("token", "text", "tag")
    ]


def strip_comments(source: str) -> str:
    """Blanks comments; literals and line numbers stay."""

    def blank(match: re.Match[str]) -> str:
        text = match[0]
        return " " + "\n" * text.count("\n") if text.startswith(("//", "/*")) else text

    return _COMMENT_OR_LITERAL.sub(blank, source)


class _Scanner:
    """Walks the declarations at namespace scope; function bodies are stepped over."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._scopes: list[tuple[str | None, bool]] = []  # (namespace, extern "C")

    def kernels(self) -> Iterator[KernelDeclaration]:
        template = c_linkage = False
        while (token := self._next()) is not None:
            if token == "namespace":
                self._enter_namespace()
            elif token == "extern" and self._peek() == '"C"':
                self._at += 1
                if self._peek() == "{":
                    self._at += 1
                    self._scopes.append((None, True))
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
        while (token := self._next()) not in (None, ";", "{", "}"):
            if token in _ATTRIBUTES and self._peek() == "(":
                self._at += 1
                self._skip_balanced("(")
            elif token == "[":
                self._skip_balanced("[")
            elif token == "(" and name:
                arguments = self._skip_balanced("(")
                scopes = [scope for scope, _ in self._scopes if scope]
                return KernelDeclaration(
                    "::".join([*scopes, *name]),
                    _parameter_names(arguments),
                    template,
                    c_linkage or any(c for _, c in self._scopes),
                )
            elif token == "<":  # a specialisation, of a template found elsewhere
                return None
            elif token != "::":
                joined = self._at >= 2 and self._tokens[self._at - 2] == "::"
                name = [*name, token] if joined and name else [token]
        self._at -= token in ("{", "}")
        return None

    def _enter_namespace(self) -> None:
        names: list[str] = []
        while (token := self._next()) not in (None, ";", "{"):
            if token == "[":
                self._skip_balanced("[")
            elif token is not None and token not in ("::", "inline", "]"):
                names.append(token)
        if token == "{":
            self._scopes.append(("::".join(names) or None, False))

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
        start, depth, closing = self._at, 1, _OPEN[opening]
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


def _parameter_names(tokens: Sequence[str]) -> Names:
    parameters = split_parameters(tokens)
    if parameters in ([], [["void"]]):
        return ()
    return tuple(parameter_name(parameter) for parameter in parameters)


def split_parameters(tokens: Sequence[str]) -> list[list[str]]:
    """Splits at the commas that no bracket encloses."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        if token in _OPEN:
            depth += 1
        elif token in _OPEN.values():
            depth -= 1
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts if parts != [[]] else []


def parameter_name(tokens: Sequence[str]) -> str | None:
    words = list(itertools.takewhile(lambda token: token != "=", tokens))
    for index in range(len(words) - 2):  # `float (*rows)[4]`, `int (&f)(int)`
        if words[index] == "(" and words[index + 1] in ("*", "&"):
            inside = itertools.takewhile(lambda w: w != ")", words[index + 2 :])
            return next((w for w in inside if _is_name(w)), None)
    words = drop_extents(words)
    if not words or not _is_name(words[-1]) or (words[-2:-1] == ["::"]):
        return None
    typed = any(w in "*&>" or w in _TYPE_WORDS or _is_name(w) for w in words[:-1])
    return words[-1] if typed else None


def drop_extents(words: list[str]) -> list[str]:
    """Returns an array declarator without its `[4]`."""
    while words and words[-1] == "]" and "[" in words:
        words = words[: len(words) - 1 - words[::-1].index("[")]
    return words


def _is_name(word: str) -> bool:
    return word.isidentifier() and word not in _QUALIFIERS | _TYPE_WORDS


def _merge(first: KernelDeclaration, second: KernelDeclaration) -> KernelDeclaration:
    """Joins two declarations; a parameter with two names, of overloads, has none."""
    names = tuple(
        (a or b) if None in (a, b) or a == b else None
        for a, b in zip(first.parameters, second.parameters, strict=True)
    )
    c_linkage = first.c_linkage or second.c_linkage
    return dataclasses.replace(first, parameters=names, c_linkage=c_linkage)
