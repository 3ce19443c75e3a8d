"""Signatures that the user declares, for kernels whose symbol does not tell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import demangled_types

from jax_rawcuda._base.errors import SignatureError
from jax_rawcuda._source.declared import Declared, parse_signature
from jax_rawcuda._types.signature import c_spelling


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("k()", ()),
        ("k(void)", ()),
        ("void k(float* x);", ("float*",)),
        ("k(const float*, float const *)", ("float const*", "float const*")),
        (
            "k(float* __restrict__ x, const float* __restrict__)",
            ("float*", "float const*"),
        ),
        ("k(float *const x, const int n)", ("float*", "int")),
        ("k(const float* const* x)", ("float const* const*",)),
        (
            "k(unsigned n, long int a, short int b, signed c)",
            ("unsigned int", "long", "short", "int"),
        ),
        (
            "k(unsigned long long n, long long unsigned int m)",
            ("unsigned long long",) * 2,
        ),
        ("k(size_t n, std::size_t m)", ("unsigned long",) * 2),
        (
            "k(int64_t n, uint8_t m, std::uint32_t o)",
            ("long long", "unsigned char", "unsigned int"),
        ),
        ("k(half h, const half2* p)", ("__half", "__half2 const*")),
        (
            "k(cuFloatComplex z, cuda::std::complex<float>* w)",
            ("float2", "cuda::std::complex<float>*"),
        ),
        ("k(struct S s, float x[4], int n = 3)", ("S", "float*", "int")),
        (
            "k(char a, signed char b, unsigned char c)",
            ("char", "signed char", "unsigned char"),
        ),
        ('extern "C" __global__ void __launch_bounds__(64) k(bool b)', ("bool",)),
    ],
)
def test_declared_signatures(text, types):
    declared = parse_signature(text)
    assert declared.kernel == "k"
    assert declared.types == types


def test_declared_names():
    declared = parse_signature("ns::saxpy(const float* x, float, float* out)")
    assert declared == Declared(
        "ns::saxpy", ("float const*", "float", "float*"), ("x", None, "out")
    )


@pytest.mark.parametrize("text", ["", "k", "(int)", "k(int", "k(int,)", "k(const)"])
def test_what_is_no_declaration(text):
    with pytest.raises(SignatureError, match="signature"):
        parse_signature(text)


@given(st.lists(demangled_types, max_size=4))
def test_a_declaration_of_demangled_types_reads_back(types):
    text = f"k({', '.join(map(c_spelling, types))})"
    assert parse_signature(text).types == tuple(types)


@given(st.text(alphabet="kab*&[]()<>,= ", max_size=30))
def test_any_declaration_is_read_or_refused(text):
    try:
        declared = parse_signature(f"k({text})")
    except SignatureError:
        return
    assert declared.kernel
