"""Modules and functions, on a machine without a GPU."""

import hashlib
import os
import pickle
import subprocess
import sys

import pytest

import jax_rawcuda as rc
from jax_rawcuda import _cache, _device, _nvrtc, _target
from jax_rawcuda._code import SourceCode
from jax_rawcuda._errors import (
    CompileError,
    SignatureError,
    UnsupportedError,
    ValidationError,
)
from jax_rawcuda._module import Target, default_target, source_module

needs_nvrtc = pytest.mark.skipif(
    not _nvrtc.is_available(), reason="NVRTC is not installed"
)
GPU = Target("cuda", "sm_90")
PTX = Target("cuda", "compute_90")
CPU = Target("cpu")

SOURCE = r"""
#include <cstdint>
struct Params { char tag; double scale; int sizes[3]; };
enum Color { RED, BLUE };
enum class Byte : unsigned char { ZERO };

extern "C" __global__ void __launch_bounds__(256, 2) plain(
    const float* __restrict__ x, float* const y, float a, int n = 3) {
  if (n > 0) y[0] = a * x[0];
}

namespace ns {
namespace {
__global__ void hidden(float* x) { x[0] = 1; }
}
__global__ void params(Params p, const Params* q, Color c, Byte b, bool flag) {}
template <typename T, int N>
__global__ void scaled(const T* x, T* y, T a) { y[0] = x[N]; }
extern "C" __global__ void in_namespace(unsigned n) {}
}  // namespace ns

__global__ void kinds(
    float4* v, const void* raw, void* out, __half h, const __nv_bfloat16* b,
    long long big, size_t size, int64_t wide, float2 z, float (*rows)[4],
    volatile int* flags, double4_16a d) {}
static __global__ void internal(int* x) { x[0] = 2; }
__global__ void over(float* x) { x[0] = 3; }
__global__ void over(double* y) { y[0] = 4; }
template <typename T> struct Traits { using type = T; };
template <typename T>
__global__ void dependent(typename Traits<T>::type* x, const T y) { x[0] = y; }
#define KERNEL(name) extern "C" __global__ void name(const int* x, int* y)
KERNEL(from_macro) { y[0] = x[0]; }
"""

SIGNATURES = {
    "plain": "void plain(const float* x, float* y, float a, int n)",
    "ns::hidden": "void ns::hidden(float* x)",
    "ns::params": (
        "void ns::params(Params p, const Params* q, Color c, Byte b, bool flag)"
    ),
    "ns::scaled<float, 4>": (
        "void ns::scaled<float, 4>(const float* x, float* y, float a)"
    ),
    "ns::scaled<__half,1>": (
        "void ns::scaled<__half,1>(const __half* x, __half* y, __half a)"
    ),
    "ns::in_namespace": "void ns::in_namespace(unsigned int n)",
    "internal": "void internal(int* x)",
    "over(float*)": "void over(float* x)",
    "over(double*)": "void over(double* x)",
    "dependent<float>": "void dependent<float>(float* x, float y)",
    "from_macro": "void from_macro(const int* arg0, int* arg1)",
}


@pytest.fixture(autouse=True, scope="module")
def cache_dir(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_RAWCUDA_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def module():
    return rc.compile_nvrtc(SOURCE)


def compiles():
    return _cache.cache_stats().compiles


@pytest.fixture
def no_nvrtc(monkeypatch):
    monkeypatch.setattr(_nvrtc, "_binding", lambda: None)


# Signatures.


@needs_nvrtc
@pytest.mark.parametrize("name", SIGNATURES)
def test_signature(module, name):
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
        '#if 0\nextern "C" __global__ void gone(int* x) {}\n#endif\n'
    )
    assert str(module.function("here").signature) == "void here(int* x)"
    with pytest.raises(ValidationError, match="no kernel fits 'gone'"):
        _ = module.function("gone").signature


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


# Identity.


def test_modules_and_functions_compare_by_content():
    source = "__global__ void same(int* x) {}"
    one, two = source_module(source), source_module(source)
    assert one == two
    assert hash(one) == hash(two)
    assert one.function("same") == two.function("same")
    assert len({one.function("same"), two.function("same")}) == 1
    assert one != source_module(source + " ")
    assert one != source_module(source, rc.NvrtcOptions(fast_math=True))
    assert one.function("same") != source_module(source + " ").function("same")


@needs_nvrtc
def test_images(module):
    function = module.function("ns::scaled<float, 4>")
    image = function.image(GPU)
    assert image.kind == "cubin"
    assert image.digest == hashlib.sha256(image.data).digest()
    assert function.lowered_name(GPU) in dict(image.lowered_names).values()
    text = function.image(PTX)
    assert text.kind == "ptx"
    assert f".entry {function.lowered_name(PTX)}" in text.data.decode()
    assert not any("probe" in name for name, _ in image.lowered_names)


def test_the_cpu_image_comes_from_clang(module):
    function = module.function("plain")
    image = function.image(CPU)
    assert image.kind == "host_ptx"
    assert f".entry {function.lowered_name(CPU)}(" in image.data.decode()


@needs_nvrtc
def test_the_cpu_front_end_can_be_chosen(module, monkeypatch):
    monkeypatch.setenv("JAX_RAWCUDA_CPU_FRONTEND", "nvrtc")
    assert b"NVIDIA" in module.function("plain").image(CPU).data
    monkeypatch.setenv("JAX_RAWCUDA_CPU_FRONTEND", "gcc")
    with pytest.raises(ValidationError, match="'clang' or 'nvrtc' is needed"):
        module.function("plain").image(CPU)


@needs_nvrtc
def test_equal_text_gives_equal_bytes_in_another_process():
    script = (
        "import jax_rawcuda as rc, hashlib\n"
        "from jax_rawcuda._module import Target\n"
        "f = rc.compile_nvrtc('__global__ void k(int* x) { *x = 5; }').function('k')\n"
        "print(f.module.digest.hex(), f.image(Target('cuda', 'sm_90')).digest.hex())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "JAX_RAWCUDA_CACHE_DIR": setting},
        ).stdout
        for setting in ("off", "")
    }
    assert len(outputs) == 1


# Targets.


def test_default_targets(monkeypatch):
    assert default_target("cpu") == CPU
    with pytest.raises(ValidationError, match="platform='tpu'"):
        default_target("tpu")
    options = rc.NvrtcOptions(arch="sm_80")
    assert default_target("cuda", options) == Target("cuda", "sm_80")
    monkeypatch.setattr(_target, "_device_arch", lambda: None)
    assert default_target("cuda") == PTX


@needs_nvrtc
@pytest.mark.parametrize(
    ("capability", "arch"),
    [(80, "sm_80"), (90, "sm_90"), (61, "sm_61"), (999, "compute_121")],
)
def test_the_arch_of_a_device(monkeypatch, capability, arch):
    monkeypatch.setattr(_nvrtc, "supported_archs", lambda: (75, 80, 90, 121))
    monkeypatch.setattr(_target, "_device_arch", lambda: capability)
    assert default_target("cuda") == Target("cuda", arch)


# What a kernel takes.


@needs_nvrtc
def test_attributes_without_a_gpu(module, monkeypatch):
    monkeypatch.setattr(_device, "_driver", lambda: None)
    attributes = module.function("plain").attributes
    assert attributes.registers > 0
    assert attributes.max_threads == 256
    assert (attributes.shared_bytes, attributes.spill_bytes) == (0, 0)
    assert module.function("kinds").attributes.max_threads == 1024


@pytest.mark.parametrize(
    "ask",
    [
        lambda f: f.occupancy(128),
        lambda f: f.occupancy((8, 8)),
        rc.Function.suggest_block,
    ],
    ids=["occupancy", "occupancy_2d", "suggest_block"],
)
def test_questions_that_need_a_gpu_say_so(monkeypatch, ask):
    monkeypatch.setattr(_device, "_driver", lambda: None)
    function = source_module("__global__ void k() {}").function()
    with pytest.raises(UnsupportedError, match="k: this question needs a CUDA device"):
        ask(function)


@pytest.mark.parametrize("block", [0, -1, (0, 1), 1025, (1024, 2)])
def test_impossible_blocks(block):
    function = source_module("__global__ void k() {}").function()
    with pytest.raises(ValidationError, match="block="):
        function.occupancy(block)


# PTX and cubins.


@pytest.fixture(scope="module")
def ptx(module):
    return module.function("plain").image(PTX).data.decode()


@needs_nvrtc
@pytest.mark.parametrize("form", ["text", "bytes", "nul", "path"])
def test_load_ptx(ptx, tmp_path, form):
    path = tmp_path / "k.ptx"
    path.write_text(ptx)
    forms = {"text": ptx, "bytes": ptx.encode(), "nul": ptx + "\0", "path": path}
    module = rc.load_ptx(
        forms[form], signature="plain(const float*, float*, float, int n)"
    )
    assert str(module.function("plain").signature) == (
        "void plain(const float* arg0, float* arg1, float arg2, int n)"
    )
    # A mangled symbol tells its types itself.
    assert str(module.function("over(float*)").signature) == "void over(float* arg0)"
    assert module.function("plain").image(CPU).kind == "host_ptx"
    assert module.function("plain").image(GPU).kind == "ptx"
    assert module.function("plain").lowered_name(GPU) == "plain"


@needs_nvrtc
def test_load_ptx_refuses(ptx):
    with pytest.raises(SignatureError, match=r"plain: an extern .* has no types"):
        _ = rc.load_ptx(ptx).function("plain").signature
    with pytest.raises(ValidationError, match="no kernel 'sapxy'"):
        rc.load_ptx(ptx, signature="sapxy(int)")
    wrong = rc.load_ptx(ptx, signature="plain(const float*, float*, double, int)")
    with pytest.raises(SignatureError, match=r"the type has 8 bytes, .* takes 4"):
        _ = wrong.function("plain").signature
    fewer = rc.load_ptx(ptx, signature="plain(const float*)")
    with pytest.raises(SignatureError, match=r"has 1 parameters .* has 4"):
        _ = fewer.function("plain").signature
    with pytest.raises(ValidationError, match="not PTX"):
        rc.load_ptx("__global__ void k() {}")
    with pytest.raises(ValidationError, match="empty"):
        rc.load_ptx("")
    with pytest.raises(ValidationError, match="NUL"):
        rc.load_ptx(ptx[:10] + "\0" + ptx[10:])
    assert rc.load_ptx(ptx) == rc.load_ptx(ptx)
    assert rc.load_ptx(ptx) != rc.load_ptx(ptx, signature="plain(int*, int*, int, int)")


@needs_nvrtc
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_120"])
def test_load_cubin(module, tmp_path, arch):
    cubin = module.function("plain").image(Target("cuda", arch)).data
    path = tmp_path / "k.cubin"
    path.write_bytes(cubin)
    declared = "plain(const float* x, float* y, float a, int n)"
    loaded = rc.load_cubin(path, signature=[declared])
    assert str(loaded.function("plain").signature) == f"void {declared}"
    params = loaded.function("ns::params").signature.parameters
    from_source = module.function("ns::params").signature.parameters
    assert [p.size for p in params] == [p.size for p in from_source]
    assert [p.type for p in params] == [p.type for p in from_source]
    assert loaded.function("plain").image(GPU).data == cubin
    attributes = loaded._code.attributes("plain", Target("cuda", arch))
    expected = module._code.attributes("plain", Target("cuda", arch))
    assert attributes.registers == expected.registers
    assert attributes.max_threads == 256
    with pytest.raises(UnsupportedError, match="a cubin is machine code"):
        loaded.function("plain").image(CPU)


@needs_nvrtc
@pytest.mark.parametrize("cut", [0, 5, 100, 2000])
def test_a_truncated_cubin_is_refused(module, cut):
    cubin = module.function("plain").image(GPU).data
    with pytest.raises(ValidationError, match="not a cubin"):
        rc.load_cubin(cubin[:cut])


# For people.


def test_repr_does_not_compile(monkeypatch):
    def refuse(*args):
        raise AssertionError("compiled")

    monkeypatch.setattr(SourceCode, "_result", refuse)
    module = source_module("__global__ void k(int* x) {}")
    assert repr(module) == "Module('k', kernels=['k'])"
    assert repr(module.function("k")) == "Function('k')"


@needs_nvrtc
def test_repr_shows_the_signature_once_known(module):
    function = module.function("plain")
    _ = function.signature
    assert repr(function) == f"Function({SIGNATURES['plain']})"
    table = function._repr_html_()
    assert "<code>const float*</code>" in table
    assert "registers" in table


def test_a_module_pickles(module):
    copy = pickle.loads(pickle.dumps(module))
    assert copy == module
    assert copy.function("plain") == module.function("plain")
