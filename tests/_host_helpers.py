"""Calls the C++ helpers of compiled kernels by address."""

from __future__ import annotations

import ctypes
import math

from jax_rawcuda import _ffi

SYMBOLS = _ffi.host_symbols()
F32, F64 = ctypes.c_float, ctypes.c_double
U16, U32, U64, I64 = (
    ctypes.c_uint16,
    ctypes.c_uint32,
    ctypes.c_uint64,
    ctypes.c_int64,
)


def helper(name, result, *arguments):
    return ctypes.CFUNCTYPE(result, *arguments)(SYMBOLS[name])


def same(result, expected):
    return (math.isnan(result) and math.isnan(expected)) or (
        result == expected
        and (result != 0 or math.copysign(1, result) == math.copysign(1, expected))
    )
