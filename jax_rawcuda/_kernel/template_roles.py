"""What a template's parameters are for, read off the text.

Template arguments that are dimensions are needed before there is an instance whose
parameters the compiler could tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._base.errors import SignatureError
from .._session.binding import operand_shape
from .._session.refs import DeviceBytes, Ref
from .._source.declarations import find_kernels
from .._source.declared import canonical_type
from .._types.arrays import check_operand
from .._types.dtypes import element_type, value_type
from .._types.signature import KernelSignature, Parameter, split_pointer
from .arguments import Roles, roles_of

_ADVICE = "Give template= a function of the call's arguments."


def declared_roles(
    kernel: str,
    source: str | None,
    in_out: Sequence[str],
    dimensions: frozenset[str],
    free: frozenset[str],
) -> Roles:
    """Reads the roles off the declaration of a template.

    Args:
      kernel: Its name.
      source: The text that spells it out.
      in_out: Names of pointers that are operand and result.
      dimensions: Names in the shapes.
      free: Those of them that only results have.

    Raises:
      SignatureError: The text does not tell, or `in_out` names no `T*`.
    """
    name = kernel.strip().removeprefix("::")
    found = [k for k in find_kernels(source or "") if k.is_named(name)]
    if len(found) != 1 or None in found[0].parameters:
        raise hidden(kernel)
    declared = zip(found[0].parameters, found[0].texts, strict=True)
    parameters = tuple(
        _parameter(index, name or "", text, dimensions)
        for index, (name, text) in enumerate(declared)
    )
    return roles_of(KernelSignature(kernel, parameters), in_out, dimensions, free)


def check_declared(declared: Roles, roles: Roles) -> None:
    """Refuses a text that says something else than the compiler.

    Raises:
      SignatureError: It does.
    """
    text, compiler = (
        ([p.name for p in r.operands], r.outputs, r.dimensions)
        for r in (declared, roles)
    )
    if text != compiler:
        raise hidden(declared.kernel)


def hidden(kernel: str) -> SignatureError:
    """Makes the error of a declaration that the text does not show."""
    return SignatureError(
        f"{kernel}: template= reads dimensions, for which the text must show the "
        "kernel's parameters; a header, a macro, an alias or an overload hides them. "
        f"{_ADVICE}"
    )


def is_certain(roles: Roles) -> bool:
    """Whether roles that were read off the text hold for every instance.

    A type that the text does not tell may be an alias of a pointer, even of a result's.
    One that others point to, as `T` beside `const T*`, is a value.
    """
    pointed_to = {p.pointee for p in roles.parameters}
    return all(
        p.is_pointer or p.type in pointed_to or value_type(p.type) is not None
        for p in roles.parameters
    )


def declared_shape(kernel: str, parameter: Parameter, value: Any) -> tuple[int, ...]:
    """Returns the shape of what is passed for a pointer of a template.

    Raises:
      SignatureError: It is no array, or untyped bytes behind a pointer whose type the
        text does not tell.
    """
    owner = f"{kernel}: operand '{parameter.name}'"
    if not isinstance(value, Ref):
        return check_operand(owner, value)[1].shape
    if isinstance(value, DeviceBytes) and element_type(parameter.pointee or "") is None:
        raise SignatureError(
            f"{owner} is untyped bytes, whose number of elements template= reads "
            f"before their type is known. {_ADVICE}"
        )
    return operand_shape(kernel, parameter, value)


def _parameter(
    index: int, name: str, text: str, dimensions: frozenset[str]
) -> Parameter:
    c_type = canonical_type(text)
    pointee, const = split_pointer(c_type)
    value = value_type(c_type)
    if pointee is None and value is None and name in dimensions:
        c_type, value = "long long", value_type("long long")  # an alias of an integer
    size = value.size if value else 0
    return Parameter(index, name, c_type, size, size, pointee, const)
