"""Parameter lists, as the compilers spell them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import demangled_types

from jax_rawcuda._base.errors import SignatureError
from jax_rawcuda._base.text import split_top_level, top_level_parts
from jax_rawcuda._types.signature import (
    AbiParameter,
    c_spelling,
    make_signature,
    normalize,
    split_function_type,
    split_symbol,
)

POINTER = AbiParameter(8, 8, "u64")


def one(c_type, abi=None):
    (parameter,) = make_signature("k", [c_type], abi and [abi]).parameters
    return parameter


@pytest.mark.parametrize(
    ("c_type", "pointee", "const"),
    [
        ("float*", "float", False),
        ("float const*", "float", True),
        ("float volatile*", "float", False),
        ("float const volatile*", "float", True),
        ("void*", "void", False),
        ("void const*", "void", True),
        ("unsigned long long const*", "unsigned long long", True),
        ("S const*", "S", True),
        ("float const* const*", "float const*", True),
        ("float**", "float*", False),
        ("float (*) [4]", "float [4]", False),
        ("float const (*) [2][3]", "float [2][3]", True),
        ("ns::Pair<int, float const*>*", "ns::Pair<int, float const*>", False),
    ],
)
def test_pointers(c_type, pointee, const):
    parameter = one(c_type, POINTER)
    assert parameter.is_pointer
    assert (parameter.pointee, parameter.const, parameter.size) == (pointee, const, 8)


@pytest.mark.parametrize(
    ("c_type", "size", "align"),
    [
        ("int", 4, 4),
        ("__half", 2, 2),
        ("float3", 12, 4),
        ("float4", 16, 16),
        ("double4_16a", 32, 16),
        ("cuda::std::complex<float>", 8, 8),
        ("bool", 1, 1),
    ],
)
def test_values_without_an_image(c_type, size, align):
    parameter = one(c_type)
    assert (parameter.size, parameter.align) == (size, align)
    assert not parameter.is_pointer


def test_structs_and_enums_take_their_size_from_the_image():
    assert one("S", AbiParameter(24, 8, "b8")).size == 24
    assert one("Color", AbiParameter(4, 4, "u32")).abi == "u32"
    with pytest.raises(SignatureError, match=r"k, parameter 0: the size of `S`"):
        one("S")


@pytest.mark.parametrize("c_type", ["S const&", "float&", "S&&"])
def test_references_are_refused(c_type):
    with pytest.raises(SignatureError, match="a reference is an address of the host"):
        one(c_type, POINTER)


def test_sizes_that_disagree_are_an_error():
    with pytest.raises(
        SignatureError, match=r"the type has 4 bytes, the compiled .* 8"
    ):
        one("int", AbiParameter(8, 8, "u64"))
    with pytest.raises(SignatureError, match=r"the type has 2 parameters .* has 1"):
        make_signature("k", ["int", "int"], [AbiParameter(4, 4, "u32")])


def test_names_are_used_when_their_number_agrees():
    def names(types, given_names):
        signature = make_signature("k", types, None, given_names)
        return [parameter.name for parameter in signature.parameters]

    assert names(["int", "float"], ["n", "x"]) == ["n", "x"]
    assert names(["int", "float"], ["n", None]) == ["n", "arg1"]
    assert names(["int", "float"], ["n"]) == ["arg0", "arg1"]
    assert names(["int", "float"], ["n", "n"]) == ["arg0", "arg1"]


def test_str_is_a_declaration():
    signature = make_signature(
        "ns::k<float>", ["float const*", "int", "void*"], None, ["x", "n", None]
    )
    assert str(signature) == "void ns::k<float>(const float* x, int n, void* arg2)"
    assert str(make_signature("k", [], None)) == "void k()"
    assert hash(signature) == hash(signature)


@pytest.mark.parametrize(
    ("c_type", "types"),
    [
        ("void (*)()", ()),
        ("void (*)(float const*, int)", ("float const*", "int")),
        (
            "void (*)(cuda::std::__4::complex<float>*, S)",
            ("cuda::std::complex<float>*", "S"),
        ),
        (
            "void (*)(P<int, float>, void (*)(int, int))",
            ("P<int, float>", "void (*)(int, int)"),
        ),
    ],
)
def test_split_function_type(c_type, types):
    assert split_function_type(c_type) == types


def test_what_is_no_kernel_type():
    with pytest.raises(SignatureError, match="not the type of a kernel"):
        split_function_type("int")


@pytest.mark.parametrize(
    ("demangled", "parts"),
    [
        ("saxpy", None),
        ("k()", ("k", ())),
        ("ns::k(float*, int)", ("ns::k", ("float*", "int"))),
        ("void k<float, 3>(float*)", ("k<float, 3>", ("float*",))),
        ("(anonymous namespace)::k(int)", ("k", ("int",))),
        ("a::(anonymous namespace)::k(int)", ("a::k", ("int",))),
        (
            "void k<void (*)(int)>(void (*)(int), P<(char)1>)",
            ("k<void (*)(int)>", ("void (*)(int)", "P<(char)1>")),
        ),
    ],
)
def test_split_symbol(demangled, parts):
    assert split_symbol(demangled) == parts


def test_normalize_drops_versions_only():
    assert normalize("cuda::std::__4::complex<float>") == "cuda::std::complex<float>"
    assert normalize("__half") == "__half"
    assert normalize("ns::__4x::T") == "ns::__4x::T"


@pytest.mark.parametrize(
    ("c_type", "spelled"),
    [
        ("float const*", "const float*"),
        ("float*", "float*"),
        ("float const* const*", "const float* const*"),
        ("int", "int"),
        ("P<float const*>*", "P<float const*>*"),
    ],
)
def test_c_spelling(c_type, spelled):
    assert c_spelling(c_type) == spelled


@given(st.lists(demangled_types, max_size=6))
def test_a_demangled_list_splits_into_its_types(types):
    joined = ", ".join(types)
    assert split_function_type(f"void (*)({joined})") == tuple(types)
    assert split_symbol(f"void ns::k<{joined}>({joined})") == (
        f"ns::k<{joined}>",
        tuple(types),
    )


@given(demangled_types)
def test_a_pointer_is_taken_apart_and_put_together(c_type):
    parameter = one(c_type, POINTER)
    assert parameter.pointee + (" const" if parameter.const else "") + "*" == c_type


@given(st.text(alphabet="abc,<>()[]{} *&:", max_size=40))
def test_any_text_splits(text):
    parts = split_top_level(text)
    assert all(part == part.strip() for part in parts)
    if parts:
        assert parts == ["".join(p).strip() for p in top_level_parts([*text])]
    split_symbol(text)
