"""The table of C types and dtypes."""

import ctypes

import ml_dtypes
import numpy as np
import pytest

from jax_rawcuda._types.dtypes import accepts, c_type_of, element_type, value_type

LONG = f"int{8 * ctypes.sizeof(ctypes.c_long)}"


@pytest.mark.parametrize(
    ("pointee", "dtype", "lanes"),
    [
        ("bool", "bool", 1),
        ("char", "int8", 1),
        ("signed char", "int8", 1),
        ("unsigned char", "uint8", 1),
        ("short", "int16", 1),
        ("unsigned short", "uint16", 1),
        ("int", "int32", 1),
        ("unsigned int", "uint32", 1),
        ("long", LONG, 1),
        ("unsigned long", f"u{LONG}", 1),
        ("long long", "int64", 1),
        ("unsigned long long", "uint64", 1),
        ("float", "float32", 1),
        ("double", "float64", 1),
        ("__half", "float16", 1),
        ("__half2", "float16", 2),
        ("__nv_bfloat16", "bfloat16", 1),
        ("__nv_bfloat162", "bfloat16", 2),
        ("__nv_fp8_e4m3", "float8_e4m3fn", 1),
        ("__nv_fp8_e5m2", "float8_e5m2", 1),
        ("float2", "float32", 2),
        ("float3", "float32", 3),
        ("float4", "float32", 4),
        ("double2", "float64", 2),
        ("double4_16a", "float64", 4),
        ("longlong2", "int64", 2),
        ("uchar4", "uint8", 4),
        ("char1", "int8", 1),
        ("float [4]", "float32", 4),
        ("float [2][3]", "float32", 6),
        ("float4 [2]", "float32", 8),
        ("cuda::std::complex<float>", "complex64", 1),
        ("cuda::std::complex<double>", "complex128", 1),
    ],
)
def test_element_type(pointee, dtype, lanes):
    element = element_type(pointee)
    assert element.dtype == np.dtype(dtype)
    assert element.lanes == lanes
    assert accepts(pointee, np.dtype(dtype))


@pytest.mark.parametrize("pointee", ["void", "S", "float*", "ns::T<int>", "float5", ""])
def test_what_is_no_element(pointee):
    assert element_type(pointee) is None


@pytest.mark.parametrize(
    ("pointee", "dtype"),
    [
        ("void", "float64"),
        ("void", "bfloat16"),
        ("float2", "complex64"),
        ("double2", "complex128"),
        ("float2", "float32"),
        ("char", "uint8"),
        ("char", "int8"),
    ],
)
def test_accepts(pointee, dtype):
    assert accepts(pointee, np.dtype(dtype))


@pytest.mark.parametrize(
    ("pointee", "dtype"),
    [
        ("float", "float64"),
        ("double", "float32"),
        ("float", "int32"),
        ("int", "uint32"),
        ("int", "int64"),
        ("long long", "uint64"),
        ("bool", "uint8"),
        ("unsigned char", "bool"),
        ("__half", "bfloat16"),
        ("__nv_bfloat16", "float16"),
        ("float4", "complex64"),
        ("float2", "complex128"),
        ("cuda::std::complex<float>", "float32"),
        ("signed char", "uint8"),
        ("float", "int4"),
        ("S", "float32"),
    ],
)
def test_refuses(pointee, dtype):
    assert not accepts(pointee, np.dtype(dtype))


@pytest.mark.parametrize(
    ("c_type", "kind", "size"),
    [
        ("bool", "bool", 1),
        ("char", "int", 1),
        ("unsigned char", "uint", 1),
        ("int", "int", 4),
        ("unsigned long long", "uint", 8),
        ("float", "float", 4),
        ("double", "float", 8),
        ("__half", "float", 2),
        ("__nv_bfloat16", "float", 2),
        ("__nv_fp8_e4m3", "float", 1),
        ("cuda::std::complex<double>", "complex", 16),
        ("float3", "vector", 12),
        ("float4", "vector", 16),
        ("__half2", "vector", 4),
    ],
)
def test_value_type(c_type, kind, size):
    value = value_type(c_type)
    assert (value.kind, value.size) == (kind, size)


@pytest.mark.parametrize("c_type", ["S", "Color", "float*", "float [4]", "void"])
def test_what_is_no_known_value(c_type):
    assert value_type(c_type) is None


@pytest.mark.parametrize(
    ("dtype", "c_type"),
    [
        (np.int8, "signed char"),
        (np.int64, "long" if LONG == "int64" else "long long"),
        (np.float16, "__half"),
        (ml_dtypes.bfloat16, "__nv_bfloat16"),
        (np.complex64, "cuda::std::complex<float>"),
        (np.bool_, "bool"),
        (np.dtype("U3"), None),
    ],
)
def test_c_type_of(dtype, c_type):
    assert c_type_of(np.dtype(dtype)) == c_type
