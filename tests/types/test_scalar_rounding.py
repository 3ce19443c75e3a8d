"""Scalars round once and to the nearest; what cannot be one is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import parameter

import jax_rawcuda as rc
from jax_rawcuda._types.scalars import pack_scalar


@given(st.floats(allow_nan=False), st.sampled_from(["bf16", "f16", "f32"]))
def test_a_float_rounds_once(value, kind):
    # The exact value lies between two neighbours of the format: take the nearer one.
    dtype = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}[kind]
    try:
        data = getattr(rc.KernelArg, kind)(value).data
    except rc.ValidationError:
        return
    given_back = np.frombuffer(data, dtype)[0]
    exact = Fraction(value) if math.isfinite(value) else None
    if exact is None or not np.isfinite(given_back):
        return
    near = [np.nextafter(given_back, dtype(side)) for side in (-np.inf, np.inf)]
    error = abs(Fraction(float(given_back)) - exact)
    for other in near:
        if np.isfinite(other):
            assert error <= abs(Fraction(float(other)) - exact)


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (1 + 2**-8 + 2**-30, 0x3F81),  # just above the middle of two bfloat16
        (1 + 2**-8, 0x3F80),  # in the middle: to even
        (1 + 3 * 2**-8 - 2**-30, 0x3F81),
        (-(1 + 2**-8 + 2**-30), 0xBF81),
    ],
)
def test_bfloat16_does_not_round_through_float32(value, bits):
    assert rc.KernelArg.bf16(value).data == bits.to_bytes(2, "little")


def test_a_record_of_foreign_byte_order():
    pair = np.dtype([("a", np.float32), ("b", np.int32)], align=True)
    value = np.array((1.0, 2), pair)
    packed = pack_scalar("k", parameter(0, "Pair p", 8), value)
    assert packed == value.tobytes()
    with pytest.raises(rc.SignatureError, match=r"^k: scalar 'p' is of foreign byte "):
        pack_scalar(
            "k", parameter(0, "Pair p", 8), value.astype(pair.newbyteorder(">"))
        )


def test_an_int_of_more_digits_than_python_prints():
    with pytest.raises(
        rc.ValidationError, match=r"=an int of 16610 bits is outside `int`"
    ):
        rc.KernelArg.i32(10**5000)
