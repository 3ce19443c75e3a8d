"""By-value kernel arguments: the exact bytes of a scalar, or an error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from ._dtypes import ValueType, c_type_of, value_type
from ._errors import SignatureError, ValidationError
from ._signature import Parameter

ScalarLike = bool | int | float | complex | np.generic | np.ndarray


@dataclass(frozen=True, slots=True)
class KernelArg:
    r"""A by-value argument whose C type is chosen by the caller.

    Attributes:
      kind: `i32`, `f16`, ..., or `bytes` for a struct.
      data: The argument's bytes.

    >>> KernelArg.u32(7).data
    b'\x07\x00\x00\x00'
    """

    kind: str
    data: bytes

    @classmethod
    def i32(cls, value: ScalarLike) -> KernelArg:
        """An `int`."""
        return cls._typed("i32", "int", value)

    @classmethod
    def u32(cls, value: ScalarLike) -> KernelArg:
        """An `unsigned int`."""
        return cls._typed("u32", "unsigned int", value)

    @classmethod
    def i64(cls, value: ScalarLike) -> KernelArg:
        """A `long long`."""
        return cls._typed("i64", "long long", value)

    @classmethod
    def u64(cls, value: ScalarLike) -> KernelArg:
        """An `unsigned long long`."""
        return cls._typed("u64", "unsigned long long", value)

    @classmethod
    def f16(cls, value: ScalarLike) -> KernelArg:
        """A `__half`."""
        return cls._typed("f16", "__half", value)

    @classmethod
    def bf16(cls, value: ScalarLike) -> KernelArg:
        """A `__nv_bfloat16`."""
        return cls._typed("bf16", "__nv_bfloat16", value)

    @classmethod
    def f32(cls, value: ScalarLike) -> KernelArg:
        """A `float`."""
        return cls._typed("f32", "float", value)

    @classmethod
    def f64(cls, value: ScalarLike) -> KernelArg:
        """A `double`."""
        return cls._typed("f64", "double", value)

    @classmethod
    def scalar(cls, value: bytes | np.generic | np.ndarray) -> KernelArg:
        """Any type, as its bytes: a struct of NumPy's, or raw bytes.

        A NumPy structured dtype needs `align=True` to have C's layout.
        """
        if isinstance(value, bytes | bytearray | memoryview):
            return cls("bytes", bytes(value))
        if isinstance(value, np.generic | np.ndarray) and value.dtype.kind != "O":
            return cls("bytes", value.tobytes())
        raise SignatureError(
            f"KernelArg.scalar: needs bytes or a NumPy value, got {_name(value)}."
        )

    @classmethod
    def _typed(cls, kind: str, c_type: str, value: object) -> KernelArg:
        target = value_type(c_type)
        if target is None:  # the table of dtypes has all of the above
            raise SignatureError(f"KernelArg.{kind}: unknown type `{c_type}`.")
        owner = f"KernelArg.{kind}: value"
        return cls(kind, _convert(owner, c_type, target, _concrete(owner, value)))


_KINDS = {
    "i32": np.dtype(np.int32),
    "u32": np.dtype(np.uint32),
    "i64": np.dtype(np.int64),
    "u64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}


def pack_scalar(kernel: str, parameter: Parameter, value: object) -> bytes:
    """Converts `value` to the bytes of a by-value parameter.

    Args:
      kernel: Named in errors.
      parameter: Of `kernel`, not a pointer.
      value: A Python or NumPy scalar, a KernelArg, or, for a struct, a NumPy record.

    Raises:
      SignatureError: A value of this kind never fits the parameter's type.
      ValidationError: This value does not fit: out of range, or not exact.
    """
    owner = f"{kernel}: scalar '{parameter.name}'"
    target = value_type(parameter.type)
    if isinstance(value, KernelArg):
        return _check_explicit(owner, parameter, target, value)
    if target is None and parameter.abi in _INTEGER_ABI:  # an enum
        target = _INTEGER_ABI[parameter.abi]
    if isinstance(value, np.void | np.ndarray) and (
        target is None or (target.kind == "vector" and target.dtype == value.dtype)
    ):
        return _sized(owner, parameter, value.tobytes())
    scalar = _concrete(owner, value)
    if target is None or target.kind == "vector":
        raise SignatureError(
            f"{owner} is {_name(value)}, but parameter `{parameter}` is a struct of "
            f"{parameter.size} bytes. Pass a NumPy record of that size, or "
            "KernelArg.scalar(bytes)."
        )
    return _convert(owner, parameter.type, target, scalar)


_INTEGER_ABI: dict[str, ValueType] = {
    f"{letter}{8 * size}": ValueType("uint" if letter == "u" else "int", size, dtype)
    for letter in "us"
    for size in (1, 2, 4, 8)
    if (dtype := np.dtype(f"{'uint' if letter == 'u' else 'int'}{8 * size}"))
}


def _check_explicit(
    owner: str, parameter: Parameter, target: ValueType | None, arg: KernelArg
) -> bytes:
    kind = _KINDS.get(arg.kind)
    if kind is not None and target is not None and kind != target.dtype:
        raise SignatureError(
            f"{owner} is KernelArg.{arg.kind}, but parameter `{parameter}` needs "
            f"{target.dtype.name}."
        )
    return _sized(owner, parameter, arg.data)


def _sized(owner: str, parameter: Parameter, data: bytes) -> bytes:
    if len(data) != parameter.size:
        raise SignatureError(
            f"{owner} has {len(data)} bytes, but parameter `{parameter}` needs "
            f"{parameter.size}. For a struct, declare the NumPy dtype with align=True."
        )
    return data


def _concrete(owner: str, value: object) -> ScalarLike:
    """Reduces `value` to a scalar that Python knows now."""
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind != "O":
        value = value[()]
    if isinstance(value, int | float | complex | np.generic) and not isinstance(
        value, np.flexible | np.datetime64 | np.timedelta64
    ):
        return value
    if hasattr(value, "aval"):
        raise SignatureError(
            f"{owner} is a JAX array ({value.aval}), but a by-value parameter needs "
            "a number that is known while tracing. Declare the parameter as a pointer "
            "(`const T*`) and read it in the kernel, or pass a Python number "
            "(static_argnums in jax.jit)."
        )
    raise SignatureError(f"{owner} is {_name(value)}; it needs a number.")


def _convert(owner: str, c_type: str, target: ValueType, value: ScalarLike) -> bytes:
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


def _to_float(owner: str, c_type: str, dtype: np.dtype, value: Any) -> Any:
    """Rounds only Python floats, which have no width of their own."""
    try:
        with np.errstate(all="ignore"):
            result = dtype.type(float(value))
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
    if type(value) is not float:
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


def _show(value: object) -> str:
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
        rounds = type(value) is complex
        parts = [float(p) if rounds else p for p in (value.real, value.imag)]
    else:
        parts = [value, 0.0]
    return b"".join(_to_float(owner, c_type, part, p).tobytes() for p in parts)


def _name(value: object) -> str:
    kind = type(value).__name__
    article = "an" if kind[0].lower() in "aeiou" else "a"
    return f"{article} {kind}"


def pack_value(owner: str, dtype: np.dtype, value: object) -> bytes:
    """Converts a number to one element of an array of `dtype`, exactly."""
    c_type = c_type_of(dtype)
    target = None if c_type is None else value_type(c_type)
    if c_type is None or target is None:
        raise SignatureError(f"{owner}: {dtype.name} has no C type to convert to.")
    return _convert(owner, dtype.name, target, _concrete(owner, value))
