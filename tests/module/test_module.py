"""Modules: the signatures, names and texts of their kernels."""

from __future__ import annotations

import pytest
from support.module_source import (
    GPU,
    PTX,
    SIGNATURES,
    SOURCE,
    compiles,
    needs_nvrtc,
)

import jax_rawcuda as rc
from jax_rawcuda._base.errors import CompileError, SignatureError, ValidationError
from jax_rawcuda._module.load import source_module

pytestmark = pytest.mark.usefixtures("module_cache")

# Signatures.


@needs_nvrtc
@pytest.mark.parametrize("name", SIGNATURES)
def test_nvrtc_gives_the_signature(module, name):
    expected = SIGNATURES[name].replace("double* x", "double* arg0")
    expected = expected.replace("over(float* x)", "over(float* arg0)")
    assert str(module.function(name).signature) == expected


@pytest.mark.parametrize("name", ["plain", "ns::params", "ns::scaled<float, 4>"])
def test_clang_gives_the_same_signature(module, no_nvrtc, name):
    assert str(rc.compile_nvrtc(SOURCE).function(name).signature) == SIGNATURES[name]


@needs_nvrtc
def test_sizes_and_kinds(module):
    p, q, c, b, flag = module.function("ns::params").signature.parameters
    assert (p.size, p.align, p.abi, p.pointee) == (32, 8, "b8", None)
    assert (q.pointee, q.const, q.size) == ("Params", True, 8)
    assert (c.size, c.abi, b.size, b.abi, flag.size) == (4, "u32", 1, "u8", 1)
    kinds = {p.name: p for p in module.function("kinds").signature.parameters}
    assert {name: p.pointee for name, p in kinds.items() if p.is_pointer} == {
        "v": "float4",
        "raw": "void",
        "out": "void",
        "b": "__nv_bfloat16",
        "rows": "float [4]",
        "flags": "int",
    }
    assert [p.name for p in kinds.values() if p.const] == ["raw", "b"]
    assert kinds["h"].size == 2
    assert (kinds["d"].size, kinds["d"].align) == (32, 16)
    assert {kinds[name].size for name in ("big", "size", "wide", "z")} == {8}


@needs_nvrtc
def test_a_reference_is_refused():
    module = rc.compile_nvrtc("struct S { int x; }; __global__ void k(const S& s) {}")
    with pytest.raises(SignatureError, match="k, parameter `const S& s`: a reference"):
        _ = module.function("k").signature


@needs_nvrtc
@pytest.mark.slow
def test_complex_is_spelled_without_its_version():
    module = rc.compile_nvrtc(
        "#include <cuda/std/complex>\n"
        "__global__ void k(const cuda::std::complex<float>* x) {}"
    )
    (x,) = module.function().signature.parameters
    assert (x.pointee, x.const) == ("cuda::std::complex<float>", True)


@needs_nvrtc
def test_one_compile_serves_every_plain_kernel():
    start = compiles()
    module = rc.compile_nvrtc(
        '__global__ void a(int* x) {}\nextern "C" __global__ void b(int n) {}'
    )
    for name in ("a", "b"):
        function = module.function(name)
        _ = function.signature
        function.image(GPU)
        function.image(PTX)
    assert compiles() == start + 1
    assert rc.compile_nvrtc(module.source).function("a").image(GPU).data
    assert compiles() == start + 1


@needs_nvrtc
def test_a_template_instance_compiles_once():
    source = "template <class T> __global__ void once(T* x) { *x = 1; }"
    start = compiles()
    function = rc.compile_nvrtc(source).function("once<float>")
    _ = function.signature
    function.image(GPU)
    assert compiles() == start + 1
    rc.compile_nvrtc(source).function("once<float>").image(GPU)
    assert compiles() == start + 1
    rc.compile_nvrtc(source).function("once<double>").image(GPU)
    assert compiles() == start + 2


@needs_nvrtc
def test_a_kernel_under_an_if_is_no_obstacle():
    module = rc.compile_nvrtc(
        'extern "C" __global__ void here(int* x) {}\n'
        '#ifdef OLD\nextern "C" __global__ void gone(int* x) {}\n#endif\n'
        '#if 0\nextern "C" __global__ void never(int* x) {}\n#endif\n'
    )
    assert str(module.function("here").signature) == "void here(int* x)"
    with pytest.raises(ValidationError, match="no kernel fits 'gone'"):
        _ = module.function("gone").signature
    with pytest.raises(
        ValidationError, match=r"no kernel 'never'\. Kernels in the source"
    ):
        module.function("never")


# Names.


def test_unknown_names_are_answered_with_near_ones(module):
    with pytest.raises(
        ValidationError, match=r"no kernel 'plian'\. Did you mean 'plain"
    ):
        module.function("plian")
    with pytest.raises(ValidationError, match=r"Did you mean 'ns::params'"):
        module.function("params")
    with pytest.raises(ValidationError, match=r"Kernels in the source: .*ns::scaled"):
        module.function("zzz")


@needs_nvrtc
def test_names_that_do_not_decide(module):
    with pytest.raises(
        ValidationError, match=r"overloaded: over\(float\*\), over\(doub"
    ):
        _ = module.function("over").signature
    with pytest.raises(ValidationError, match=r"cannot determine which instance"):
        module.function("ns::scaled")
    with pytest.raises(ValidationError, match='identifier "flaot" is undefined'):
        module.function("ns::scaled<flaot, 1>")
    with pytest.raises(ValidationError, match=r"\d+ kernels \(plain, .*\); name one"):
        module.function()


def test_the_only_kernel_needs_no_name():
    assert source_module("__global__ void only() {}").function().name == "only"


@needs_nvrtc
def test_spaces_and_a_leading_scope_do_not_matter(module):
    assert module.function(" ::ns::params ").name == "ns::params"


# Texts.


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("", "source: the source is empty"),
        ("int x;\0", "NUL character at index 6"),
        ("__device__ void f() {}", r"no kernels in the source\. Add a __global__"),
        ("// \udcff", "not valid UTF-8"),
        (3, "source is int: a str of CUDA"),
    ],
)
def test_texts_that_are_refused(source, says):
    with pytest.raises(ValidationError, match=says):
        rc.compile_nvrtc(source)


def test_options_must_be_options():
    with pytest.raises(ValidationError, match=r"NvrtcOptions\(...\) is needed"):
        rc.compile_nvrtc("__global__ void k() {}", {"std": "c++17"})


@needs_nvrtc
def test_compile_errors_come_at_once_and_name_the_kernel():
    with pytest.raises(CompileError, match=r"^bad failed to compile for sm_\d+"):
        rc.compile_nvrtc("__global__ void bad(float* x) { *x = y; }")
    with pytest.raises(CompileError, match=r"^my_name failed"):
        rc.compile_nvrtc("__global__ void bad(float* x) { *x = y; }", name="my_name")


@needs_nvrtc
def test_a_file_is_read_and_its_folder_searched(tmp_path):
    (tmp_path / "value.h").write_text("#define VALUE 7\n")
    path = tmp_path / "kernels.cu"
    path.write_text('#include "value.h"\n__global__ void k(int* x) { *x = VALUE; }\n')
    assert ", 7;" in rc.compile_nvrtc(path).function("k").image(PTX).data.decode()
    path.write_text("\n__global__ void k(int* x) { *x = value; }\n")
    with pytest.raises(CompileError, match=r"kernels\.cu\(2\): error"):
        rc.compile_nvrtc(path)
