"""By-value kernel arguments: the exact bytes of a scalar, or an error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._base.errors import SignatureError
from .arrays import describe
from .conversion import ScalarLike, check_native, concrete, convert, type_name
from .dtypes import ValueType, c_type_of, element_types, value_type
from .signature import Parameter


@dataclass(frozen=True, slots=True)
class KernelArg:
    r"""A by-value argument whose C type is chosen by the caller.

    `KernelArg.f32(value)` and its like take a Python or NumPy number. Python floats are
    rounded; any other number that the type does not hold is a ValidationError.

    Attributes:
      kind: `i32`, `f16`, ..., or `scalar`.
      data: The argument's bytes.
      dtype: What they hold; None: anything, such as a struct.

    >>> KernelArg.u32(7).data
    b'\x07\x00\x00\x00'
    """

    kind: str
    data: bytes
    dtype: np.dtype | None = None

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
        """Any type, as its bytes: a number, vector or struct of NumPy's, or raw bytes.

        A NumPy structured dtype needs `align=True` to have C's layout. An array of
        uint8 is raw bytes.

        Args:
          value: Either of them.

        Raises:
          SignatureError: Neither of them.
        """
        if isinstance(value, bytes | bytearray | memoryview):
            return cls("scalar", bytes(value))
        if isinstance(value, np.generic | np.ndarray) and value.dtype.kind != "O":
            check_native("KernelArg.scalar: value", value.dtype)
            raw = value.dtype.kind == "V" or value.dtype == np.uint8
            return cls("scalar", value.tobytes(), None if raw else value.dtype)
        raise SignatureError(
            f"KernelArg.scalar: needs bytes or a NumPy value, got {type_name(value)}."
        )

    @classmethod
    def _typed(cls, kind: str, c_type: str, value: object) -> KernelArg:
        target = value_type(c_type)
        if target is None:  # the table of dtypes has all of the above
            raise SignatureError(f"KernelArg.{kind}: unknown type `{c_type}`.")
        owner = f"KernelArg.{kind}: value"
        data = convert(owner, c_type, target, concrete(owner, value))
        return cls(kind, data, target.dtype)


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
    if isinstance(value, KernelArg):
        return _check_explicit(owner, parameter, value_type(parameter.type), value)
    target = held_value(parameter)
    if target is not None and target.kind == "vector":
        return _pack_vector(owner, parameter, value)
    if isinstance(value, np.void | np.ndarray) and target is None:
        check_native(owner, value.dtype)
        return _sized(owner, parameter, value.tobytes())
    scalar = concrete(owner, value)
    if target is None:
        raise SignatureError(
            f"{owner} is {type_name(value)}, but parameter `{parameter}` is a struct "
            f"of {parameter.size} bytes. Pass a NumPy record of that size, or "
            "KernelArg.scalar(bytes)."
        )
    return convert(owner, parameter.type, target, scalar)


def held_value(parameter: Parameter) -> ValueType | None:
    """Returns how a by-value parameter is packed, None for structs."""
    # An enum is the integer that the binary interface says.
    return value_type(parameter.type) or _INTEGER_ABI.get(parameter.abi)


def _pack_vector(owner: str, parameter: Parameter, value: object) -> bytes:
    """Packs a `float4` and its like: a NumPy array; of a `float2`, a complex number."""
    readings = element_types(parameter.type)
    if isinstance(value, np.ndarray | np.generic):
        check_native(owner, value.dtype)
        if any((r.dtype, r.lanes) == (value.dtype, value.size) for r in readings):
            return value.tobytes()
    number = next((r.dtype for r in readings if r.dtype.kind == "c"), None)
    if number is not None and isinstance(value, complex | np.complexfloating):
        target = ValueType("complex", parameter.size, number)
        return convert(owner, parameter.type, target, value)
    lane, lanes = readings[0].dtype.name, readings[0].lanes
    raise SignatureError(
        f"{owner} is {describe(value)}, but parameter `{parameter}` holds {lanes} "
        f"{lane}. Pass np.array([...], {lane!r})."
    )


_INTEGER_ABI: dict[str, ValueType] = {
    f"{letter}{8 * size}": ValueType("uint" if letter == "u" else "int", size, dtype)
    for letter in "us"
    for size in (1, 2, 4, 8)
    if (dtype := np.dtype(f"{'uint' if letter == 'u' else 'int'}{8 * size}"))
}


def _check_explicit(
    owner: str, parameter: Parameter, target: ValueType | None, arg: KernelArg
) -> bytes:
    if arg.dtype is None or target is None:
        return _sized(owner, parameter, arg.data)
    readings = [r.dtype for r in element_types(parameter.type)] or [target.dtype]
    if arg.dtype not in readings:
        given = f" of {arg.dtype.name}" if arg.kind == "scalar" else ""
        raise SignatureError(
            f"{owner} is KernelArg.{arg.kind}{given}, but parameter `{parameter}` "
            f"needs {target.dtype.name}."
        )
    return _sized(owner, parameter, arg.data)


def _sized(owner: str, parameter: Parameter, data: bytes) -> bytes:
    if len(data) != parameter.size:
        raise SignatureError(
            f"{owner} has {len(data)} bytes, but parameter `{parameter}` needs "
            f"{parameter.size}. For a struct, declare the NumPy dtype with align=True."
        )
    return data


def pack_value(owner: str, dtype: np.dtype, value: object) -> bytes:
    """Converts a number to one element of an array of `dtype`, exactly."""
    c_type = c_type_of(dtype)
    target = None if c_type is None else value_type(c_type)
    if c_type is None or target is None:
        raise SignatureError(f"{owner}: {dtype.name} has no C type to convert to.")
    return convert(owner, dtype.name, target, concrete(owner, value))
