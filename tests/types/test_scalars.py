"""By-value arguments: every scalar becomes its exact C value, or an error."""

from __future__ import annotations

import math
import struct

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import parameter

import jax_rawcuda as rc
from jax_rawcuda._types.dtypes import value_type
from jax_rawcuda._types.scalars import pack_scalar

INTEGERS = {
    "signed char": "b",
    "unsigned char": "B",
    "short": "h",
    "unsigned short": "H",
    "int": "i",
    "unsigned int": "I",
    "long long": "q",
    "unsigned long long": "Q",
}
FLOATS = ["__half", "__nv_bfloat16", "float", "double"]
VALUES = [
    *(0, 1, -1, 127, 128, 255, 256, 2**24, 2**24 + 1, 2**31, 2**53 + 1, 2**63, 2**64),
    *(0.0, -0.0, 0.5, 1.0, -3.0, 1e30, math.inf, math.nan, True, False),
    *(np.bool_(True), np.int8(-5), np.uint8(200), np.int64(2**40), np.uint64(2**63)),
    *(np.float16(1.5), np.float32(0.1), np.float64(0.1), np.float64(0.25)),
    *(ml_dtypes.bfloat16(3.0), np.array(7), np.array(0.75, np.float32)),
    *(1j, np.complex64(2.0)),
]


def pack(c_type, value, size=None):
    return pack_scalar("f", parameter(0, f"{c_type} a", size), value)


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("c_type", [*INTEGERS, *FLOATS, "bool"])
def test_exact_or_error(c_type, value):
    """A value that packs reads back as the same number."""
    target = value_type(c_type)
    try:
        data = pack(c_type, value)
    except (rc.ValidationError, rc.SignatureError) as error:
        refusal = str(error)
    else:
        refusal = ""
    if refusal:
        assert refusal.startswith("f: scalar 'a'")
        assert c_type in refusal
        assert not fits(target, value)
        return
    assert len(data) == target.size
    got = np.frombuffer(data, target.dtype)[0]
    plain = value.item() if isinstance(value, np.generic | np.ndarray) else value
    given = float(got) if target.kind == "float" else int(got)
    if plain != plain:
        assert math.isnan(given)
    elif not (type(plain) is float and target.kind == "float"):
        assert given == plain
    elif math.isfinite(plain):
        assert math.isclose(given, plain, rel_tol=2 ** -(8 if c_type[2:] else 1))


def fits(target, value):
    """Whether a reader would expect `value` to be representable."""
    plain = value.item() if isinstance(value, np.generic | np.ndarray) else value
    if isinstance(plain, complex):
        return False
    if isinstance(plain, bool):
        return target.kind != "float"
    if target.kind == "float":
        with np.errstate(all="ignore"):
            try:
                return float(target.dtype.type(plain)) == plain
            except OverflowError:
                return False
    if isinstance(plain, float) and (target.kind == "bool" or not plain.is_integer()):
        return False
    info = (0, 1) if target.kind == "bool" else limits(target)
    return info[0] <= plain <= info[1]


def limits(target):
    info = np.iinfo(target.dtype)
    return info.min, info.max


@given(value=st.integers(-(2**70), 2**70), c_type=st.sampled_from([*INTEGERS]))
def test_integers_are_those_of_struct(c_type, value):
    try:
        want = struct.pack(f"<{INTEGERS[c_type]}", value)
    except struct.error:
        with pytest.raises(rc.ValidationError, match="is outside"):
            pack(c_type, value)
    else:
        assert pack(c_type, value) == want


@given(value=st.floats(width=64))
def test_a_python_float_rounds_to_nearest(value):
    assert pack("double", value) == struct.pack("<d", value)
    try:
        want = struct.pack("<f", value)
    except OverflowError:
        with pytest.raises(rc.ValidationError, match="overflows `float`"):
            pack("float", value)
        return
    if value and struct.unpack("<f", want)[0] == 0:
        with pytest.raises(rc.ValidationError, match="rounds to 0"):
            pack("float", value)
    elif value == value:
        assert pack("float", value) == want


@given(value=st.floats(width=64))
def test_a_numpy_double_never_rounds(value):
    with np.errstate(over="ignore"):
        exact = float(np.float32(value)) == value or value != value
    if exact:
        pack("float", np.float64(value))
    else:
        with pytest.raises(rc.ValidationError, match=r"not exact|overflows"):
            pack("float", np.float64(value))


def test_zeros_of_both_signs_differ():
    assert pack("float", 0.0) != pack("float", -0.0)


def test_complex_numbers():
    c64 = "cuda::std::complex<float>"
    assert pack(c64, 1 - 2j) == struct.pack("<ff", 1, -2)
    assert pack(c64, 3) == struct.pack("<ff", 3, 0)
    assert pack(c64, np.complex64(0.5j)) == struct.pack("<ff", 0, 0.5)
    with pytest.raises(rc.ValidationError, match="not exact"):
        pack(c64, np.complex128(0.1j))


def test_structs_are_numpy_records():
    record = np.dtype([("a", "i4"), ("b", "f8")], align=True)
    value = np.array((7, 0.5), record)
    want = value.tobytes()
    assert pack("Params", value, 16) == want
    assert pack("Params", value[()], 16) == want
    assert pack("Params", rc.KernelArg.scalar(want), 16) == want
    with pytest.raises(rc.SignatureError, match=r"has 12 bytes, .* needs 16"):
        pack("Params", np.array((7, 0.5), [("a", "i4"), ("b", "f8")]), 16)
    with pytest.raises(rc.SignatureError, match="is a struct of 16 bytes"):
        pack("Params", 3, 16)


LANES = np.arange(4, dtype=np.float32)


@pytest.mark.parametrize(
    ("c_type", "value"),
    [
        ("float3", LANES[:3]),
        ("float4", LANES),
        ("float4", LANES.reshape(2, 2)),
        ("int1", np.int32([7])),
        ("int1", np.int32(7)),
        ("uchar4", np.uint8([1, 2, 3, 4])),
        ("__half2", LANES[:2].astype(np.float16)),
        ("float2", LANES[:2]),
        ("float2", np.complex64(1 + 2j)),
        ("float2", np.complex64([1 + 2j])),
        ("double2", np.complex128(1 + 2j)),
    ],
)
def test_vectors_are_numpy_arrays(c_type, value):
    size = value.nbytes
    assert pack(c_type, value, size) == value.tobytes()
    assert pack(c_type, rc.KernelArg.scalar(value), size) == value.tobytes()
    assert pack(c_type, rc.KernelArg.scalar(value.tobytes()), size) == value.tobytes()


def test_a_pair_of_floats_is_a_complex_number():
    assert pack("float2", 1 + 2j, 8) == struct.pack("<2f", 1, 2)
    with pytest.raises(rc.ValidationError, match="not exact"):
        pack("float2", np.complex128(0.1j), 8)


@pytest.mark.parametrize(
    ("c_type", "value", "told"),
    [
        ("float4", LANES.astype(np.int32), r"int32\[4\]"),
        ("float4", np.arange(2.0), r"float64\[2\]"),
        ("float4", LANES[:3], r"float32\[3\]"),
        ("float4", (1.0, 2.0, 3.0, 4.0), "a Python tuple"),
        ("float4", 1.0, "a Python float"),
        ("float4", 1j, "a Python complex"),
        ("float4", np.complex64([1, 2]), r"complex64\[2\]"),
    ],
)
def test_what_is_no_such_vector(c_type, value, told):
    match = rf"is {told}, but parameter `float4 a` holds 4 float32\. Pass np\.array"
    with pytest.raises(rc.SignatureError, match=match):
        pack(c_type, value, 16)
    if isinstance(value, np.ndarray) and value.size * value.itemsize == 16:
        match = rf"KernelArg\.scalar of {value.dtype}, but parameter .* needs float32"
        with pytest.raises(rc.SignatureError, match=match):
            pack(c_type, rc.KernelArg.scalar(value), 16)


def test_bytes_of_any_kind_are_a_vector():
    data = np.frombuffer(LANES.tobytes(), np.uint8)
    assert pack("float4", rc.KernelArg.scalar(data), 16) == LANES.tobytes()


def test_an_array_is_not_a_scalar():
    for value in (np.zeros(1, np.float32), [1.0], "1", None):
        with pytest.raises(rc.SignatureError, match="it needs a number"):
            pack("float", value)


@pytest.mark.parametrize(
    ("kind", "form", "value"),
    [
        ("i32", "i", -7),
        ("u32", "I", 2**32 - 1),
        ("i64", "q", -(2**63)),
        ("u64", "Q", 2**64 - 1),
        ("f16", "e", 0.1),
        ("f32", "f", 0.1),
        ("f64", "d", 0.1),
    ],
)
def test_explicit_arguments(kind, form, value):
    argument = getattr(rc.KernelArg, kind)(value)
    assert argument.data == struct.pack(f"<{form}", value)
    assert argument == getattr(rc.KernelArg, kind)(value)


def test_explicit_arguments_are_checked_against_the_parameter():
    assert pack("int", rc.KernelArg.i32(4)) == struct.pack("<i", 4)
    assert pack("int", rc.KernelArg.scalar(b"abcd")) == b"abcd"
    with pytest.raises(rc.SignatureError, match=r"is KernelArg.f32, .* needs int32"):
        pack("int", rc.KernelArg.f32(4))
    with pytest.raises(rc.SignatureError, match="has 2 bytes"):
        pack("int", rc.KernelArg.scalar(b"ab"))
    with pytest.raises(rc.ValidationError, match=r"KernelArg.u32: value=-1 is outside"):
        rc.KernelArg.u32(-1)
    assert rc.KernelArg.bf16(1.0).data == b"\x80\x3f"


def test_bytes_of_foreign_order_are_refused():
    with pytest.raises(rc.SignatureError) as caught:
        rc.KernelArg.scalar(np.array([1.5, 2.0], ">f4"))
    assert str(caught.value) == (
        "KernelArg.scalar: value is of foreign byte order (>f4). Convert it with "
        ".astype(dtype.newbyteorder('='))."
    )


def test_a_number_that_must_be_known_says_what_to_do():
    text = (
        r"^KernelArg\.f32: value is a JAX array \(float32\[\]\), but it needs a number "
        r"that is known while tracing\. Pass a Python number \(static_argnames in "
        r"jax\.jit\)\."
    )
    with pytest.raises(rc.SignatureError, match=text):
        rc.KernelArg.f32(jnp.float32(2))
    with pytest.raises(rc.SignatureError, match=text):
        jax.jit(rc.KernelArg.f32)(jnp.float32(2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_of_jax_round_as_pythons_do(dtype):
    """What JAX makes of a Python number for a rule of custom_vjp."""

    def rule(a, b, c):
        return pack("float", a), pack("int", b), pack("cuda::std::complex<float>", c)

    seen = []
    f = jax.custom_vjp(lambda *numbers: seen.append(rule(*numbers)) or 0.0)
    f.defvjp(lambda *_: (0.0, ()), lambda *_: ())
    with jax.enable_x64(dtype is np.float64):
        f(0.1, 7, 0.1 + 0.3j)
    assert seen == [rule(0.1, 7, 0.1 + 0.3j)]
