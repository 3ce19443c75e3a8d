"""Template arguments of `rc.kernel`: values and dimensions, spelled in C++."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .._base.callbacks import ask
from .._base.errors import ValidationError
from .._types.arrays import describe
from .._types.dtypes import c_type_of
from .._types.shape_syntax import Expression, names_in, parse_axes
from .._types.shapes import evaluate
from .abstract import abstract

TemplateArgument = np.dtype | type | int | bool | str
Template = Callable[..., Any] | Sequence[TemplateArgument] | TemplateArgument

_ONE = (str, int, np.integer, np.bool_, np.dtype, type)


def is_function(template: Any) -> bool:
    """Whether the user's function chooses the arguments."""
    return callable(template) and not isinstance(template, type)  # a dtype's class


def instance(
    owner: str,
    template: Template | None,
    args: Sequence[Any],
    scalars: Mapping[str, Any],
    dimensions: frozenset[str],
    sizes: Callable[[], Mapping[str, int]],
) -> str:
    """Returns the name expression of a template kernel, such as `k<float, 4>`.

    Args:
      owner: The kernel's name.
      template: The arguments, or a function of the call's that returns them.
      args: Of the call.
      scalars: Of the call, by name.
      dimensions: Names in the shapes. Text that is one of them, or arithmetic of them
        alone, is its value; any other text is C++.
      sizes: Finds the dimensions of the call; asked only where text reads them.

    Raises:
      SignatureError: The function takes other arguments.
      ValidationError: An argument that C++ has no template argument for.
    """
    chosen: Any = template
    if is_function(chosen):
        shown = [describe(value) for value in args]
        types = [abstract(owner, f"argument {i}", x) for i, x in enumerate(args)]
        chosen = ask(owner, "template", chosen, shown, types, scalars)
    if isinstance(chosen, _ONE):
        chosen = (chosen,)
    if not isinstance(chosen, tuple | list):
        raise ValidationError(
            f"{owner}: template gives {chosen!r}; it needs dtypes, ints, bools or C++ "
            "text, one or several."
        )
    spelled = []
    for argument in chosen:
        expression = _dimension(argument, dimensions)
        if expression is None:
            spelled.append(_spell(owner, argument))
        else:
            where = f"{owner}: template"
            spelled.append(str(evaluate(expression, sizes(), owner=where)))
    return f"{owner}<{', '.join(spelled)}>"


def _dimension(argument: Any, dimensions: frozenset[str]) -> Expression | None:
    """Reads text over dimensions; None: it is something else, such as C++."""
    if not isinstance(argument, str):
        return None
    try:
        axes = parse_axes(argument, owner="template", what="text")
    except ValidationError:
        return None
    names = frozenset().union(*map(names_in, axes))
    return axes[0] if len(axes) == 1 and names and names <= dimensions else None


def _spell(owner: str, argument: Any) -> str:
    if isinstance(argument, str):
        return argument
    if isinstance(argument, bool | np.bool_):
        return "true" if argument else "false"
    if isinstance(argument, int | np.integer):
        return str(int(argument))
    spelled = None
    if isinstance(argument, np.dtype | type):
        spelled = c_type_of(np.dtype(argument))
    if spelled is None:
        raise ValidationError(
            f"{owner}: template argument {argument!r} has no C++ spelling. Give it as "
            "text."
        )
    return spelled
