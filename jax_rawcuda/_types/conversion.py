"""Scalars to bytes: a number becomes exactly the C type's value, or an error."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from .._base.errors import SignatureError, ValidationError
from .dtypes import ValueType

ScalarLike = bool | int | float | complex | np.generic | np.ndarray


def concrete(owner: str, value: object) -> ScalarLike:
    """Reduces `value` to a scalar that Python knows now."""
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind != "O":
        value = value[()]
    if isinstance(value, int | float | complex | np.generic) and not isinstance(
        value, np.flexible | np.datetime64 | np.timedelta64
    ):
        return value
    if hasattr(value, "aval"):
        raise SignatureError(
            f"{owner} is a JAX array ({value.aval}), but it needs a number that is "
            "known while tracing. Pass a Python number (static_argnames in jax.jit)."
        )
    raise SignatureError(f"{owner} is {type_name(value)}; it needs a number.")


def convert(owner: str, c_type: str, target: ValueType, value: ScalarLike) -> bytes:
    """Packs a scalar as a C type; exactly, but for Python floats, which round."""
    if target.kind in ("int", "uint", "bool"):
        return _to_integer(owner, c_type, target, value)
    if isinstance(value, bool | np.bool_):
        raise SignatureError(
            f"{owner} is a bool, but the parameter is `{c_type}`. Pass 0.0 or 1.0."
        )
    if target.kind == "complex":
        return _to_complex(owner, c_type, target, value)
    if isinstance(value, complex | np.complexfloating):
        raise SignatureError(f"{owner} is complex, but the parameter is `{c_type}`.")
    return bytes(_to_float(owner, c_type, target.dtype, value).tobytes())


def _to_integer(owner: str, c_type: str, target: ValueType, value: ScalarLike) -> bytes:
    if isinstance(value, complex | np.complexfloating):
        raise SignatureError(f"{owner} is complex, but the parameter is `{c_type}`.")
    if _is_float(value):
        if target.kind == "bool":
            raise SignatureError(
                f"{owner} is a float, but the parameter is `bool`. Pass True or False."
            )
        number = float(value)
        if not math.isfinite(number) or number != math.floor(number):
            raise ValidationError(
                f"{owner}={number!r} is not an integer, but the parameter is "
                f"`{c_type}`. Convert it with int()."
            )
    low, high = _range(target)
    if not low <= (whole := int(value)) <= high:
        raise ValidationError(
            f"{owner}={_show(whole)} is outside `{c_type}`, which holds {low} to "
            f"{high}."
        )
    return whole.to_bytes(target.size, "little", signed=target.kind == "int")


def _range(target: ValueType) -> tuple[int, int]:
    if target.kind == "bool":
        return 0, 1
    bits = 8 * target.size
    if target.kind == "uint":
        return 0, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def _is_float(value: object) -> bool:
    if isinstance(value, np.generic):
        return not isinstance(value, np.integer | np.bool_ | np.complexfloating)
    return isinstance(value, float)


def _is_python(value: object, kind: type) -> bool:
    """Whether it is a Python number, which has no width; one of JAX's own, too."""
    return isinstance(value, kind) and not isinstance(value, np.generic)


def _to_float(owner: str, c_type: str, dtype: np.dtype, value: Any) -> Any:
    """Rounds only Python floats, which have no width of their own."""
    try:
        with np.errstate(all="ignore"):
            result = _round(float(value), dtype)
        exact = _equal(result, value)
    except OverflowError:
        result, exact = dtype.type(math.inf), False
    if exact:
        return result
    if not _finite(result):
        raise ValidationError(
            f"{owner}={_show(value)} overflows `{c_type}`, whose largest value is "
            f"{float(ml_dtypes.finfo(dtype).max)!r}."
        )
    if not _is_python(value, float):
        raise ValidationError(
            f"{owner}={_show(value)} ({type(value).__name__}) is not exact in "
            f"`{c_type}`. Pass float(value) to round it."
        )
    if float(result) == 0:
        raise ValidationError(
            f"{owner}={_show(value)} rounds to 0 in `{c_type}`. Pass 0.0 if that is "
            "meant."
        )
    return result


def _round(value: float, dtype: np.dtype) -> Any:
    """Rounds once, to the nearest and to even.

    ml_dtypes rounds to float32 first. An inexact float32 made odd keeps the second
    rounding right: Boldo and Melquiond, "When double rounding is odd", 2005.
    """
    if dtype.kind != "V" or not math.isfinite(value):
        return dtype.type(value)
    near = np.float32(value)
    if np.isfinite(near) and float(near) != value:
        down = near if abs(float(near)) < abs(value) else np.nextafter(near, 0)
        near = (down.view(np.uint32) | np.uint32(1)).view(np.float32)
    return dtype.type(near)


def _show(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 10_000:  # Python's own limit
        return f"an int of {value.bit_length()} bits"
    text = str(value)
    return text if len(text) <= 40 else f"{text[:20]}...{text[-8:]}"


def _finite(value: Any) -> bool:
    return math.isfinite(float(value))


def _equal(result: Any, value: Any) -> bool:
    """Compares without rounding: Python compares ints and floats exactly."""
    if isinstance(value, np.longdouble):
        return bool(result == value or value != value)
    given = value if isinstance(value, int | float) else value.item()
    got = float(result)
    return got == given or (got != got and given != given)


def _to_complex(owner: str, c_type: str, target: ValueType, value: Any) -> bytes:
    part = np.dtype(f"float{8 * target.size // 2}")
    if isinstance(value, complex | np.complexfloating):
        # Component by component, so that each rounds, or is refused, as a float does.
        rounds = _is_python(value, complex)
        parts = [float(p) if rounds else p for p in (value.real, value.imag)]
    else:
        parts = [value, 0.0]
    return b"".join(_to_float(owner, c_type, part, p).tobytes() for p in parts)


def check_native(owner: str, dtype: np.dtype) -> None:
    """Refuses values whose bytes mean another number on this machine."""
    if not dtype.isnative:
        raise SignatureError(
            f"{owner} is of foreign byte order ({dtype}). Convert it with "
            ".astype(dtype.newbyteorder('='))."
        )


def type_name(value: object) -> str:
    """Names a value's type in a message: `a list`."""
    kind = type(value).__name__
    article = "an" if kind[0].lower() in "aeiou" else "a"
    return f"{article} {kind}"
