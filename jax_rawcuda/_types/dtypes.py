"""The one table between CUDA C types, in the compiler's spelling, and NumPy dtypes."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import math
import re
from typing import Any, Literal

import ml_dtypes
import numpy as np

ValueKind = Literal["bool", "int", "uint", "float", "complex", "vector"]


@dataclasses.dataclass(frozen=True, slots=True)
class ElementType:
    """What a pointer parameter points to: `lanes` array elements of `dtype`."""

    dtype: np.dtype
    lanes: int = 1


@dataclasses.dataclass(frozen=True, slots=True)
class ValueType:
    """A by-value parameter: `size` bytes, read by the kernel as `dtype`.

    A `vector` holds `size // dtype.itemsize` lanes.
    """

    kind: ValueKind
    size: int
    dtype: np.dtype


# NVRTC and clang take the host's data model: `long` has 4 bytes on Windows only.
_LONG_BITS = 8 * ctypes.sizeof(ctypes.c_long)

_SCALARS: dict[str, np.dtype] = {
    "bool": np.dtype(np.bool_),
    "char": np.dtype(np.int8),
    "signed char": np.dtype(np.int8),
    "unsigned char": np.dtype(np.uint8),
    "short": np.dtype(np.int16),
    "unsigned short": np.dtype(np.uint16),
    "int": np.dtype(np.int32),
    "unsigned int": np.dtype(np.uint32),
    "long": np.dtype(f"int{_LONG_BITS}"),
    "unsigned long": np.dtype(f"uint{_LONG_BITS}"),
    "long long": np.dtype(np.int64),
    "unsigned long long": np.dtype(np.uint64),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    "__half": np.dtype(np.float16),
    "__nv_bfloat16": np.dtype(ml_dtypes.bfloat16),
    "__nv_fp8_e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "__nv_fp8_e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "__nv_fp8_e8m0": np.dtype(ml_dtypes.float8_e8m0fnu),
    "cuda::std::complex<float>": np.dtype(np.complex64),
    "cuda::std::complex<double>": np.dtype(np.complex128),
}

_PACKED: dict[str, tuple[str, int]] = {
    "__half2": ("__half", 2),
    "__nv_bfloat162": ("__nv_bfloat16", 2),
    "__nv_fp8x2_e4m3": ("__nv_fp8_e4m3", 2),
    "__nv_fp8x2_e5m2": ("__nv_fp8_e5m2", 2),
    "__nv_fp8x4_e4m3": ("__nv_fp8_e4m3", 4),
    "__nv_fp8x4_e5m2": ("__nv_fp8_e5m2", 4),
}

_VECTOR_BASES = {
    "char": "signed char",
    "uchar": "unsigned char",
    "short": "short",
    "ushort": "unsigned short",
    "int": "int",
    "uint": "unsigned int",
    "long": "long",
    "ulong": "unsigned long",
    "longlong": "long long",
    "ulonglong": "unsigned long long",
    "float": "float",
    "double": "double",
}
# CUDA 13 spells the two alignments of its 32-byte vectors `double4_16a`, `double4_32a`.
_VECTOR = re.compile(r"([a-z]+)([1-4])(?:_(?:16|32)a)?\Z")
_ARRAY = re.compile(r"(.+?)\s*((?:\[\d+\])+)\Z")

_COMPLEX: dict[np.dtype, np.dtype] = {
    np.dtype(np.float32): np.dtype(np.complex64),
    np.dtype(np.float64): np.dtype(np.complex128),
}


def element_type(pointee: str) -> ElementType | None:
    """Returns what an array behind a `pointee*` holds, None for structs and void."""
    choices = element_types(pointee)
    return choices[0] if choices else None


@functools.cache
def element_types(pointee: str) -> tuple[ElementType, ...]:
    """Returns every reading of `pointee` as array elements, the usual one first."""
    if array := _ARRAY.match(pointee):
        count = math.prod(int(extent) for extent in re.findall(r"\d+", array[2]))
        return tuple(
            ElementType(element.dtype, element.lanes * count)
            for element in element_types(array[1])
        )
    if (dtype := _SCALARS.get(pointee)) is not None:
        if pointee == "char":  # raw bytes, of either sign
            return ElementType(dtype), ElementType(np.dtype(np.uint8))
        return (ElementType(dtype),)
    vector = _lanes(pointee)
    if vector is None:
        return ()
    lane, count = vector
    if count == 2 and lane in _COMPLEX:  # cuFloatComplex is float2
        return ElementType(lane, 2), ElementType(_COMPLEX[lane])
    return (ElementType(lane, count),)


def accepts(pointee: str, dtype: np.dtype) -> bool:
    """Tells whether an array of `dtype` may stand behind a `pointee*`."""
    if pointee == "void":
        return True
    return any(element.dtype == dtype for element in element_types(pointee))


@functools.cache
def value_type(c_type: str) -> ValueType | None:
    """Returns how a by-value parameter is packed, None for structs and enums."""
    if (dtype := _SCALARS.get(c_type)) is not None:
        return ValueType(_kind(c_type, dtype), dtype.itemsize, dtype)
    vector = _lanes(c_type)
    if vector is None:
        return None
    lane, count = vector
    return ValueType("vector", count * lane.itemsize, lane)


def c_type_of(dtype: np.dtype) -> str | None:
    """Returns the CUDA C spelling of an array's dtype, for template arguments."""
    for c_type, known in _SCALARS.items():
        if known == dtype and c_type != "char":
            return c_type
    return None


def spell_array(array: Any) -> str:
    """Returns `float32[3,4]`, of anything that has a dtype and a shape."""
    return f"{array.dtype.name}[{','.join(map(str, array.shape))}]"


def _lanes(c_type: str) -> tuple[np.dtype, int] | None:
    if c_type in _PACKED:
        scalar, count = _PACKED[c_type]
        return _SCALARS[scalar], count
    match = _VECTOR.match(c_type)
    if match is None or match[1] not in _VECTOR_BASES:
        return None
    return _SCALARS[_VECTOR_BASES[match[1]]], int(match[2])


def _kind(c_type: str, dtype: np.dtype) -> ValueKind:
    if c_type == "bool":
        return "bool"
    by_letter: dict[str, ValueKind] = {"i": "int", "u": "uint", "c": "complex"}
    return by_letter.get(dtype.kind, "float")
