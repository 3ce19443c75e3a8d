"""Dynamic scalars: arrays that hold a by-value argument, read when the kernel runs."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._base.errors import SignatureError, ValidationError
from .arrays import ArrayType, is_turned_off
from .dtypes import ElementType, element_types, spell_array, value_type
from .scalars import held_value
from .signature import Parameter


def promoted(parameter: Parameter, array: Any) -> Any:
    """Gives a weakly typed array the dtype of a by-value parameter, where jnp would.

    A weak integer becomes any integer or float, a weak float any float. Anything else
    comes back as it is.
    """
    if not isinstance(array, jax.Array) or not jax.typeof(array).weak_type:
        return array
    for wanted in _readings(parameter):
        if array.shape != wanted.shape or is_turned_off(wanted.dtype):
            continue
        with jax.numpy_dtype_promotion("standard"):
            met = jnp.result_type(array, wanted.dtype)
        if met == wanted.dtype != array.dtype:
            return jax.lax.convert_element_type(array, wanted.dtype)
    return array


def check_array(kernel: str, parameter: Parameter, array: ArrayType) -> None:
    """Compares an array with the by-value parameter that it stands for.

    A number needs one without axes, of the parameter's own dtype; a vector its lanes,
    or one complex number for two of them; a struct its bytes, as uint8.

    Raises:
      SignatureError: Another dtype.
      ValidationError: Another shape.
    """
    readings = _readings(parameter)
    if array in readings:
        return
    fault = (
        f"{kernel}: scalar '{parameter.name}' is {spell_array(array)}, but parameter "
        f"`{parameter}` needs {' or '.join(map(spell_array, readings))}."
    )
    if array.dtype not in [reading.dtype for reading in readings]:
        raise SignatureError(f"{fault} {_cast(parameter, readings[0].dtype)}")
    if readings[0].shape:
        raise ValidationError(f"{fault} Pass that many.")
    raise ValidationError(f"{fault} Pass one element, such as {parameter.name}[0].")


def _readings(parameter: Parameter) -> tuple[ArrayType, ...]:
    """The arrays that hold a parameter, the usual one first."""
    target = held_value(parameter)
    if target is None:
        return (_lanes(ElementType(np.dtype(np.uint8), parameter.size)),)
    if target.kind == "vector":
        return tuple(map(_lanes, element_types(parameter.type)))
    if value_type(parameter.type) is None:  # an enum; the compiler tells no sign
        size = target.dtype.itemsize
        return tuple(ArrayType((), np.dtype(f"{sign}{size}")) for sign in "iu")
    return (ArrayType((), target.dtype),)


def _lanes(element: ElementType) -> ArrayType:
    shape = () if element.dtype.kind == "c" else (element.lanes,)
    return ArrayType(shape, element.dtype)


def _cast(parameter: Parameter, dtype: np.dtype) -> str:
    if held_value(parameter) is None:
        return "An array holds a struct as its bytes."
    cast = f'ast with {parameter.name}.astype("{dtype.name}")'
    if not is_turned_off(dtype):
        return f"C{cast}."
    return (
        f'Set jax.config.update("jax_enable_x64", True) and c{cast}, or pass a static '
        "Python number (static_argnames)."
    )
