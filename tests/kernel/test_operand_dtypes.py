"""Every dtype behind every kind of pointer: it fits, or the message says which does."""

from __future__ import annotations

import ctypes

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from support.fakes import FakeFunction

import jax_rawcuda as rc

LONG = f"int{8 * ctypes.sizeof(ctypes.c_long)}"

# The dtypes that fit, the one to name first at the front.
NEEDS = {
    "bool": ["bool"],
    "char": ["int8", "uint8"],
    "signed char": ["int8"],
    "unsigned char": ["uint8"],
    "short": ["int16"],
    "unsigned short": ["uint16"],
    "int": ["int32"],
    "unsigned int": ["uint32"],
    "long": [LONG],
    "unsigned long": [f"u{LONG}"],
    "long long": ["int64"],
    "unsigned long long": ["uint64"],
    "__half": ["float16"],
    "__nv_bfloat16": ["bfloat16"],
    "__nv_fp8_e4m3": ["float8_e4m3fn"],
    "float": ["float32"],
    "double": ["float64"],
    "float2": ["float32", "complex64"],
    "cuda::std::complex<double>": ["complex128"],
}
DTYPES = {
    np.dtype(name): name in ("int64", "uint64", "float64", "complex128")
    for name in [
        *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32"),
        *("int64", "uint64", "float16", "float32", "float64"),
        *("complex64", "complex128", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn),
    ]
}


def record(pointee, x):
    """Records a launch that reads an array through a pointer, and nothing else."""
    function = FakeFunction(f"k(const {pointee}* x)")

    @rc.op
    def body(s, x):
        s.launch(function, rc.LaunchConfig(1, 32), x)
        return s.alloc_output(1, jnp.float32, fill=0)

    jax.eval_shape(lambda: body(x))  # not as an argument, which JAX would narrow


def message(pointee, given, *, x64):
    """What must be said of a dtype that does not fit."""
    needed = NEEDS[pointee][0]
    advice = f'ast with x.astype("{needed}")'
    if needed in ("int64", "uint64", "float64", "complex128") and not x64:
        advice = f'Set jax.config.update("jax_enable_x64", True) and c{advice}'
    elif given.kind in "iub" and given.itemsize == np.dtype(needed).itemsize:
        advice = f"C{advice}, or reinterpret with .view"
    else:
        advice = f"C{advice}"
    return (
        f"k: operand 'x' is {given.name}, but parameter `const {pointee}* x` needs "
        f"{' or '.join(NEEDS[pointee])}. {advice}."
    )


@pytest.mark.parametrize("x64", [False, True], ids=["32 bits", "x64"])
@pytest.mark.parametrize("pointee", NEEDS)
def test_a_dtype_fits_or_the_message_names_one_that_does(pointee, x64):
    with jax.enable_x64(x64):
        for dtype, wide in DTYPES.items():
            x = np.zeros(4, dtype)
            if dtype.name not in NEEDS[pointee]:
                with pytest.raises(rc.SignatureError) as caught:
                    record(pointee, x)
                assert str(caught.value) == message(pointee, dtype, x64=x64)
            elif wide and not x64:
                with pytest.raises(rc.SignatureError, match="64-bit types are off"):
                    record(pointee, x)
            else:
                record(pointee, x)


def test_int64_for_an_int_of_a_compiled_kernel(x64):
    copy = rc.kernel(
        "__global__ void copy(const int* x, int* out) { out[0] = x[0]; }",
        shapes="1 -> 1",
        threads=1,
    )
    with pytest.raises(rc.SignatureError) as caught:
        jax.jit(copy)(jnp.zeros(1, jnp.int64))
    assert str(caught.value) == (
        "copy: operand 'x' is int64, but parameter `const int* x` needs int32. Cast "
        'with x.astype("int32").'
    )
