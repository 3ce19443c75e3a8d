"""Operands: what a caller may pass as an array, checked before JAX converts it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax
import ml_dtypes
import numpy as np

from .._base.errors import SignatureError
from .conversion import check_native
from .dtypes import spell_array

_ADVICE = "it needs an array. Pass jnp.asarray(...) with an explicit dtype."


def is_array(value: object) -> bool:
    """Whether a value is an array, concrete or traced; NumPy's scalars count."""
    return isinstance(value, jax.Array | np.ndarray | np.generic)


def describe(value: Any) -> str:
    """Names a value in a message: `float32[3,4]`, `a Python float`."""
    if is_array(value):
        return spell_array(value)
    for python in (bool, int, float, complex, str, list, tuple, dict):
        if isinstance(value, python):  # or of a class on top, such as JAX's own floats
            return f"a Python {python.__name__}"
    kind = type(value).__name__
    return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"


def check_operand(owner: str, value: Any) -> tuple[Any, ArrayType]:
    """Accepts an array, or explains why the value is not one.

    Args:
      owner: Starts the message, such as `saxpy: operand 'x'`.
      value: Anything a caller passes.

    Returns:
      The array, still in its own dtype, and its type.

    Raises:
      SignatureError: Not an array, or of a dtype that kernels cannot read.
    """
    if not is_array(value) and hasattr(value, "__jax_array__"):
        value = value.__jax_array__()
    if not is_array(value):
        raise SignatureError(f"{owner} is {describe(value)}; {_ADVICE}")
    if isinstance(value, np.ma.MaskedArray):
        raise SignatureError(f"{owner} is a masked array; fill it first: {_ADVICE}")
    dtype = value.dtype
    if jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        raise SignatureError(
            f"{owner} is a typed PRNG key, which has no memory layout. "
            "Pass jax.random.key_data(key)."
        )
    if dtype.names or dtype.kind in "OSUMm" or not dtype.isnative:
        raise SignatureError(
            f"{owner} is {dtype}, a dtype that JAX arrays cannot have."
        )
    _check_bits(owner, dtype)
    if not all(isinstance(extent, int) for extent in value.shape):
        raise SignatureError(
            f"{owner} has the symbolic shape {value.shape}, but launches are recorded "
            "with static shapes. Export with numbers."
        )
    return value, ArrayType(tuple(value.shape), np.dtype(dtype))


def as_bytes(owner: str, data: Any) -> bytes:
    """Reads constant bytes that a user gives."""
    if isinstance(data, np.ma.MaskedArray):
        raise SignatureError(f"{owner} got a masked array. Fill it first.")
    if isinstance(data, np.ndarray) and not data.dtype.hasobject:
        check_native(owner, data.dtype)
        return data.tobytes()
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    raise SignatureError(
        f"{owner} needs bytes or a NumPy array of numbers, got {describe(data)}."
    )


def as_dtype(owner: str, dtype: Any) -> np.dtype:
    """Reads a dtype that a user gives."""
    try:
        return np.dtype(dtype)  # type: ignore[no-any-return]
    except TypeError:
        raise SignatureError(
            f"{owner} has dtype={dtype!r}, which is no dtype. Give one such as "
            "jnp.float32."
        ) from None


def check_dtype(owner: str, dtype: np.dtype, remedy: str = "Convert it") -> None:
    """Refuses dtypes that JAX would change, or that no platform agrees on.

    Args:
      owner: Starts the message, such as `saxpy: operand 'x'`.
      dtype: Of an operand or a result.
      remedy: What to do where JAX's 64-bit types shall stay off.
    """
    _check_bits(owner, dtype)
    if is_turned_off(dtype):
        raise SignatureError(
            f"{owner} is {dtype}, but JAX's 64-bit types are off and would make it "
            f"{jax.dtypes.canonicalize_dtype(dtype)}. {remedy}, or set "
            'jax.config.update("jax_enable_x64", True).'
        )


def _check_bits(owner: str, dtype: np.dtype) -> None:
    if (bits := _bits(dtype)) < 8:
        raise SignatureError(
            f"{owner} is {dtype}, whose {bits}-bit elements are packed on some "
            "platforms only. Pack them into uint8."
        )


def is_turned_off(dtype: np.dtype) -> bool:
    """Whether it is a 64-bit dtype, and JAX has none at this moment."""
    wide = dtype.itemsize == (16 if dtype.kind == "c" else 8) and dtype.kind in "iufc"
    return wide and not x64_enabled()


def x64_enabled() -> bool:
    """Whether JAX keeps 64-bit dtypes in this thread, at this moment."""
    return bool(jax.dtypes.canonicalize_dtype(np.float64) == np.float64)


def _bits(dtype: np.dtype) -> int:
    if dtype.kind == "V":  # the types of ml_dtypes
        for info in (ml_dtypes.finfo, ml_dtypes.iinfo):
            try:
                return int(info(dtype).bits)
            except ValueError:
                continue
    return 8 * dtype.itemsize


@dataclass(frozen=True, slots=True)
class ArrayType:
    """Shape and dtype of one operand or result, without batch axes."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize
