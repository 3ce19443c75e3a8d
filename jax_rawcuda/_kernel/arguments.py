"""Sorts a kernel call's arguments by the parameters of the kernel."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax

from .._base.errors import SignatureError, counted
from .._session.calls import Call
from .._session.refs import Ref
from .._types.arrays import describe, is_array
from .._types.dtypes import value_type
from .._types.signature import KernelSignature, Parameter


@dataclass(frozen=True, slots=True)
class Roles:
    """What each parameter of a kernel is for.

    Attributes:
      kernel: Name for messages.
      parameters: All, in order.
      outputs: Names of pointers that the call allocates.
      in_out: Names of pointers that are read and written.
      dimensions: Names of integer scalars that the shapes of the operands give.
      keywords: Names of dimensions that no operand and no parameter has: a call gives
        them by keyword.
    """

    kernel: str
    parameters: tuple[Parameter, ...]
    outputs: frozenset[str]
    in_out: frozenset[str]
    dimensions: frozenset[str]
    keywords: frozenset[str] = frozenset()

    @property
    def operands(self) -> tuple[Parameter, ...]:
        """Pointers that are passed in."""
        return tuple(
            p for p in self.parameters if p.is_pointer and p.name not in self.outputs
        )

    def arrays(self, named: Mapping[str, Any]) -> tuple[Parameter, ...]:
        """What stands for arrays in a call: operands, and scalars read from memory."""
        held = {p.name for p in self.operands}
        for name in named.keys() - self.dimensions:
            if isinstance(named[name], jax.Array | Ref):
                held.add(name)
        return tuple(p for p in self.parameters if p.name in held)

    @property
    def results(self) -> tuple[Parameter, ...]:
        """Pointers that come back: outputs and in-out operands."""
        written = self.outputs | self.in_out
        return tuple(p for p in self.parameters if p.name in written)


def roles_of(
    signature: KernelSignature,
    in_out: Sequence[str],
    dimensions: frozenset[str],
    free: frozenset[str] = frozenset(),
) -> Roles:
    """Reads the roles off the parameter types: `const T*` in, `T*` out.

    Args:
      signature: Of the kernel.
      in_out: Names of pointers that are both.
      dimensions: Names in the shapes.
      free: Those of them that only results have.

    Raises:
      SignatureError: `in_out` names something that is not a `T*`.
    """
    pointers = {p.name: p for p in signature.parameters if p.is_pointer}
    for name in in_out:
        if name not in pointers or pointers[name].const:
            writable = ", ".join(n for n, p in pointers.items() if not p.const)
            raise SignatureError(
                f"{signature.kernel}: in_out names '{name}', which is no pointer that "
                f"the kernel may write. Choose from: {writable or 'none'}."
            )
    outputs = frozenset(
        n for n, p in pointers.items() if not p.const and n not in in_out
    )
    filled = frozenset(
        p.name for p in signature.parameters if p.name in dimensions and _is_integer(p)
    )
    return Roles(
        signature.kernel,
        signature.parameters,
        outputs,
        frozenset(in_out),
        filled,
        free.difference(p.name for p in signature.parameters),
    )


def _is_integer(parameter: Parameter) -> bool:
    value = None if parameter.is_pointer else value_type(parameter.type)
    return value is not None and value.kind in ("int", "uint")


def call_signature(roles: Roles) -> inspect.Signature:
    """Spells a call as Python does.

    Dimensions, which may be left out, are `*dimensions`: JAX's transformations would
    pass on the default of a parameter that has one.
    """
    passed = [p.name for p in roles.parameters if p.name not in roles.outputs]
    spelled = spell_in_python([*passed, *sorted(roles.keywords)])
    kind = inspect.Parameter
    parameters = [
        kind(spelled[name], kind.POSITIONAL_OR_KEYWORD)
        for name in passed
        if name not in roles.dimensions
    ]
    by_keyword = [
        kind(spelled[name], kind.KEYWORD_ONLY) for name in sorted(roles.keywords)
    ]
    if len(parameters) == len(passed):
        return inspect.Signature([*parameters, *by_keyword])
    return _open_signature(parameters, by_keyword, ("dimensions", "named"))


def unknown_signature(keywords: Collection[str]) -> inspect.Signature:
    """Spells a call whose parameters are not known before there is one.

    Args:
      keywords: Names of dimensions that may have to be given.
    """
    kind = inspect.Parameter
    spelled = spell_in_python(sorted(keywords))
    by_keyword = [kind(name, kind.KEYWORD_ONLY) for name in spelled.values()]
    return _open_signature([], by_keyword, ("args", "keywords"))


def _open_signature(
    parameters: Sequence[inspect.Parameter],
    by_keyword: Sequence[inspect.Parameter],
    more: tuple[str, str],
) -> inspect.Signature:
    """Spells parameters, and any more by position and by name."""
    taken = {p.name for p in (*parameters, *by_keyword)}
    args, named = (_free(name, taken) for name in more)
    kind = inspect.Parameter
    return inspect.Signature(
        [
            *parameters,
            kind(args, kind.VAR_POSITIONAL),
            *by_keyword,
            kind(named, kind.VAR_KEYWORD),
        ]
    )


def spell_in_python(names: Sequence[str]) -> dict[str, str]:
    """Returns what Python calls parameters of C: `in` and `lambda` get a `_`."""
    taken = set(names)
    spelled = {}
    for name in names:
        plain = re.sub(r"\W", "_", name)  # clang allows `$`
        if plain != name or keyword.iskeyword(plain):
            plain = _free(f"{plain}_", taken)
            taken.add(plain)
        spelled[name] = plain
    return spelled


def _free(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name += "_"
    return name


def sort_arguments(
    roles: Roles, args: Sequence[Any], keywords: Mapping[str, Any]
) -> dict[str, Any]:
    """Names the arguments of a call.

    Positional arguments follow the parameters, without the outputs and, when they are
    left out, without the dimensions. Any of them may be given by keyword, as
    dimensions must that are no parameters; `in_` is `in`, if C calls none so.

    Raises:
      SignatureError: An argument is missing, unknown or one too many.
    """
    passed = [p.name for p in roles.parameters if p.name not in roles.outputs]
    choices = [*passed, *sorted(roles.keywords)]
    in_c = {python: c for c, python in spell_in_python(choices).items()}
    keywords = {in_c.get(name, name): value for name, value in keywords.items()}
    if unknown := [k for k in keywords if k not in choices]:
        what = "is a result" if unknown[0] in roles.outputs else "is no parameter"
        raise SignatureError(
            f"{roles.kernel}: '{unknown[0]}' {what}. "
            f"Choose from: {', '.join(choices) or 'none'}.{_unnamed(roles)}"
        )
    names = positional_names(roles, len(args), keywords)
    if names is None:
        raise SignatureError(_wrong_count(roles, keywords, len(args)))
    named = {**dict(zip(names, args, strict=True)), **keywords}
    _check_scalars(roles, named, keywords)
    return named


def positional_names(
    roles: Roles, count: int, keywords: Collection[str]
) -> list[str] | None:
    """Returns the parameters that so many positional arguments are for.

    None where a call cannot have that many beside these keywords.
    """
    choices = _positional(roles, keywords)
    return next((names for names in choices if len(names) == count), None)


def _positional(roles: Roles, keywords: Collection[str]) -> tuple[list[str], list[str]]:
    """Parameters that are given by position: without dimensions, and with them."""
    taken = roles.outputs.union(keywords)
    every = [p.name for p in roles.parameters if p.name not in taken]
    return [name for name in every if name not in roles.dimensions], every


def arrange_call(roles: Roles, named: Mapping[str, Any]) -> Call:
    """Brings named arguments into the order of the parameters.

    Dimensions that only some of are given stay keywords, as those must that are no
    parameters.
    """
    given = [p.name for p in roles.parameters if p.name in named]
    if not roles.dimensions <= named.keys():
        given = [name for name in given if name not in roles.dimensions]
    arrays = {p.name for p in roles.arrays(named)}
    return Call(
        roles.kernel,
        tuple(given),
        tuple(named[name] for name in given),
        tuple(i for i, name in enumerate(given) if name in arrays),
        0,
        {name: value for name, value in named.items() if name not in given},
    )


def _wrong_count(roles: Roles, keywords: Collection[str], given: int) -> str:
    """Says how many positional arguments a call takes, and why it may be wrong."""
    needed, every = _positional(roles, keywords)
    optional = ", ".join(name for name in every if name in roles.dimensions)
    text = f"{roles.kernel}: expected {_count(needed)}"
    text += f" or {_count(every)}, got {given}." if optional else f", got {given}."
    sizes = [p.name for p in roles.parameters if p.name in needed and _is_integer(p)]
    if given > len(every) and roles.keywords:
        names = sorted(roles.keywords)
        text += (
            f" Dimensions that are no parameters ({', '.join(names)}) go by keyword, "
            f"such as {names[0]}=16."
        )
    elif given > len(every):
        text += f" {_about_results(roles)}"
    elif given > len(needed):
        text += f" Pass all of {optional} by position, or some of them by keyword."
    elif sizes:
        text += (
            f" {', '.join(sizes)} must be passed: only dimensions that shapes= names "
            "are filled in."
        )
    return text + _unnamed(roles)


def _count(names: Sequence[str]) -> str:
    listed = f" ({', '.join(names)})" if names else ""
    return counted(len(names), "argument") + listed


def _about_results(roles: Roles) -> str:
    if not roles.outputs:
        return "It has no results to allocate."
    return (
        f"Results ({_result_names(roles)}) are allocated for you and are not passed: a "
        "pointer that is passed needs `const`, or its name in in_out=."
    )


def _result_names(roles: Roles) -> str:
    return ", ".join(p.name for p in roles.parameters if p.name in roles.outputs)


def _check_scalars(
    roles: Roles, named: Mapping[str, Any], keywords: Mapping[str, Any]
) -> None:
    """Finds an operand that took a scalar's place, as its own pointer is not const."""
    if not all(hasattr(named[p.name], "shape") for p in roles.operands):
        return  # the better error is about that operand
    if not roles.outputs:
        return  # the better error is about that scalar
    for parameter in roles.parameters:
        value: Any = named.get(parameter.name)
        kind = None if parameter.is_pointer else value_type(parameter.type)
        if kind is None or kind.kind == "vector":  # structs and vectors may be arrays
            continue
        if is_array(value) and value.shape:
            if twice := [p.name for p in roles.operands if p.name in keywords]:
                raise SignatureError(
                    f"{roles.kernel}: {describe(value)} came to scalar "
                    f"'{parameter.name}', which needs a number: positional arguments "
                    "stand for the parameters that no keyword gives, and "
                    f"{', '.join(twice)} came by keyword. Pass each once."
                )
            raise SignatureError(
                f"{roles.kernel}: pointers without `const` ({_result_names(roles)}) "
                f"are results, allocated for you and not passed; so {describe(value)} "
                f"came to scalar '{parameter.name}', which needs a number. Write "
                "`const` at a pointer that you pass, or name it in in_out=."
            )


def _unnamed(roles: Roles) -> str:
    """Says why a parameter that looks like a dimension is none."""
    values = [p for p in roles.parameters if not p.is_pointer]
    names = [p.name for p in values if p.name == f"arg{p.index}"]
    if not names:
        return ""
    return (
        f" The source does not tell the name of {', '.join(names)}: a macro makes it, "
        "or declarations disagree. Pass it, or write the kernel out."
    )
