"""PTX text as declarations: its functions and variables.

Bodies are parsed on first use: libraries leave hundreds of functions nobody calls.
"""

from __future__ import annotations

import contextlib
import functools
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..._base.errors import UnsupportedError
from ..._base.text import split_top_level
from .body import Body, parse_body
from .instruction import Instruction
from .operands import Symbol, leaves
from .text import clean, file_names, items
from .variable import Variable, parse_variable

_KIND = re.compile(r"\.(entry|func)\b")
_NAME = re.compile(r"[\w$%.]+")
_PASSED_OVER = (".pragma", ".section")
_DIRECTIVE = re.compile(r"\.(\w+)\s+([\d, ]+)")


@dataclass
class Function:
    """A kernel or device function.

    Attributes:
      name: Lowered name.
      entry: Whether it is a kernel.
      parameters: In order.
      results: Of a device function; at most one.
      directives: Such as `maxntid` -> (256, 1, 1).
      extern: Whether it has no body in this module.
    """

    name: str
    entry: bool
    parameters: tuple[Variable, ...]
    results: tuple[Variable, ...]
    directives: dict[str, tuple[int, ...]]
    extern: bool
    _parse: Callable[[], Body]

    @functools.cached_property
    def body(self) -> Body:
        """The function's registers, variables and statements."""
        return self._parse()

    @property
    def max_threads(self) -> int | None:
        """The bound of `__launch_bounds__`, None when there is none."""
        for word in ("maxntid", "reqntid"):
            if word in self.directives:
                return math.prod(self.directives[word])
        return None


@dataclass
class Module:
    """One PTX text.

    Attributes:
      functions: By symbol, in the order of the text.
      variables: Of the module, likewise, as far as their declarations are understood:
        the others are refused where they are used.
    """

    functions: dict[str, Function] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)

    def reachable(self, kernel: str) -> list[str]:
        """Returns the functions that a kernel may call, itself first."""
        found: dict[str, None] = {}
        todo = [kernel]
        while todo:
            name = todo.pop()
            if name in found:
                continue
            found[name] = None
            todo += self.mentioned(name)
        return list(found)

    def mentioned(self, name: str) -> list[str]:
        """Returns the functions that a function calls or takes the address of."""
        return [
            found
            for statement in self.functions[name].body.statements
            if isinstance(statement, Instruction)
            for operand in statement.operands
            for leaf in leaves(operand)
            if isinstance(leaf, Symbol)
            for found in self.functions_of(leaf.name)
        ]

    def functions_of(self, name: str, seen: set[str] | None = None) -> list[str]:
        """Returns the function of that name, or those in a variable's initialiser."""
        seen = set() if seen is None else seen
        if name in self.functions:
            return [name]
        variable = self.variables.get(name)
        if variable is None or not variable.initializer or name in seen:
            return []
        seen.add(name)
        names = re.findall(r"[A-Za-z_$%][\w$]*", variable.initializer)
        return [found for inner in names for found in self.functions_of(inner, seen)]


def parse(text: str) -> Module:
    """Parses the declarations of a PTX text.

    Raises:
      UnsupportedError: One of a function is not understood, or the text is cut off.
    """
    module = Module()
    files = functools.cache(functools.partial(file_names, text))
    aliases: dict[str, str] = {}
    for head, body in items(text):
        if head.startswith(_PASSED_OVER):
            continue
        if head.startswith(".alias"):
            name, _, target = head.removeprefix(".alias").partition(",")
            aliases[name.strip()] = target.strip()
        elif body is not None or _KIND.search(head):
            function = _parse_function(head, body, files)
            if body is not None or function.name not in module.functions:
                module.functions[function.name] = function
        else:
            with contextlib.suppress(UnsupportedError):
                variable = parse_variable(head)
                module.variables[variable.name] = variable
    for name, target in aliases.items():
        if target in module.functions:
            module.functions[name] = module.functions[target]
    return module


def _parse_function(
    head: str, body: str | None, files: Callable[[], Mapping[int, str]]
) -> Function:
    kind = _KIND.search(head)
    rest = head[kind.end() :].strip() if kind else head
    results, rest = _parse_parameters(rest)
    name = _NAME.match(rest)
    if name is None:
        raise UnsupportedError(f"PTX declaration `{head}` is not supported")
    parameters, rest = _parse_parameters(rest[name.end() :].strip())
    directives = {
        word: tuple(int(number) for number in numbers.replace(",", " ").split())
        for word, numbers in _DIRECTIVE.findall(rest)
    }

    def parse_its_body() -> Body:
        return Body() if body is None else parse_body(*clean(body, files()))

    return Function(
        name=name[0],
        entry=bool(kind and kind[1] == "entry"),
        parameters=parameters,
        results=results,
        directives=directives,
        extern=body is None,
        _parse=parse_its_body,
    )


def _parse_parameters(text: str) -> tuple[tuple[Variable, ...], str]:
    """Parses `(a, b) rest`; returns the parameters, if there are some, and the rest."""
    if not text.startswith("("):
        return (), text
    depth = 0
    for end, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if not depth:
            parts = split_top_level(text[1:end])
            return tuple(map(parse_variable, parts)), text[end + 1 :].strip()
    raise UnsupportedError(f"PTX declaration `{text}` is not supported")
