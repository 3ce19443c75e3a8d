"""The clang front end: names, signatures, diagnostics, options, caching."""

from __future__ import annotations

import re

import pytest

from jax_rawcuda._base import errors as _errors
from jax_rawcuda.cpu.frontend import clang, toolchain
from jax_rawcuda.cpu.frontend.cccl import cccl_include_dirs
from jax_rawcuda.cpu.frontend.clang import compile_source

TEMPLATE = r"""
namespace ns {
struct Affine { float scale; double shift; };
template <class T, int N>
__global__ void apply(const T* x, T* y, Affine a, unsigned n) {
  for (int k = 0; k < N; ++k)
    if (threadIdx.x * N + k < n) y[threadIdx.x * N + k] = x[k] * T(a.scale);
}
}  // namespace ns
extern "C" __global__ void plain(const float* x, float* y, int n) {}
__global__ void mangled(long long* p, unsigned char c, bool flag) {}
"""


def entries(ptx):
    return set(re.findall(r"\.entry (\S+?)\(", ptx))


def test_names_and_types():
    expressions = ("ns::apply<float, 4>", "ns::apply<double,1>", "plain", "mangled")
    result = compile_source(TEMPLATE, program_name="t.cu", name_expressions=expressions)
    assert result.lowered_names["plain"] == "plain"
    assert result.lowered_names["mangled"] == "_Z7mangledPxhb"
    assert set(result.lowered_names) == set(expressions)
    assert entries(result.ptx) == set(result.lowered_names.values())
    assert result.demangled == {
        "ns::apply<float, 4>": (
            "void (*)(float const*, float*, ns::Affine, unsigned int)"
        ),
        "ns::apply<double,1>": (
            "void (*)(double const*, double*, ns::Affine, unsigned int)"
        ),
        "plain": "void (*)(float const*, float*, int)",
        "mangled": "void (*)(long long*, unsigned char, bool)",
    }
    assert "jax_rawcuda" not in result.ptx  # the probes are gone


def test_kernels_without_name_expressions_are_compiled():
    result = compile_source(TEMPLATE, program_name="t.cu")
    assert entries(result.ptx) == {"plain", "_Z7mangledPxhb"}
    assert result.lowered_names == {}


def test_struct_parameters_have_cuda_layout():
    result = compile_source(
        TEMPLATE, program_name="t.cu", name_expressions=["ns::apply<float, 4>"]
    )
    assert re.search(r"\.param \.align 8 \.b8 \S+\[16\]", result.ptx)


def test_lines_are_the_users():
    source = (
        '#line 41 "model.py"\n__global__ void k(float* x) {\n'
        "  x[0] = __expf(max(x[1], 0.f));\n}"
    )
    ptx = compile_source(source, program_name="ignored.cu").ptx
    assert re.search(r'\.file\s+\d+ "model\.py"', ptx)
    numbers = re.findall(r'\.file\s+(\d+) "(.*)"', ptx)
    locations = re.findall(r"\.loc\s+(\d+) (\d+)", ptx)
    assert {file for _, file in numbers} == {"model.py"}
    assert {int(line) for _, line in locations} == {41, 42, 43}


def test_diagnostics_name_the_users_file_and_line():
    source = '#line 12 "model.py"\n__global__ void k(float* x) {\n  x[0] = missing;\n}'
    with pytest.raises(
        _errors.CompileError, match=r"^scale.cu failed to compile for the CPU \(clang"
    ) as info:
        compile_source(source, program_name="scale.cu")
    error = info.value
    assert "model.py:13:10: error: use of undeclared identifier 'missing'" in error.log
    assert error.log in str(error)
    assert error.source == source
    assert error.arch == clang.ARCH
    assert "-std=c++17" in error.options


def test_the_program_name_is_the_file_by_default():
    with pytest.raises(_errors.CompileError, match=r'my "own" file.cu:2:1: error:'):
        compile_source("\nnonsense", program_name='my "own" file.cu')


def test_unknown_kernel_name():
    with pytest.raises(
        _errors.CompileError, match=r"name expression nothing<int>:1:\d+: error: .*noth"
    ):
        compile_source(TEMPLATE, program_name="t.cu", name_expressions=["nothing<int>"])


def test_missing_include():
    with pytest.raises(_errors.CompileError, match=r"t.cu:1:10: .*'nowhere.h'"):
        compile_source("#include <nowhere.h>", program_name="t.cu")


def test_headers_by_text():
    result = compile_source(
        '#include "lib/scale.h"\n__global__ void k(float* x) { *x = SCALE; }',
        program_name="t.cu",
        headers={"lib/scale.h": "#define SCALE 3.f\n"},
    )
    assert "1077936128" in result.ptx  # 3.0f as bits


def test_errors_in_headers_name_the_header():
    with pytest.raises(_errors.CompileError, match=r"(?m)^lib/bad.h:2:1: error:"):
        compile_source(
            '#include "lib/bad.h"',
            program_name="t.cu",
            headers={"lib/bad.h": "\nnonsense"},
        )


@pytest.mark.parametrize("name", ["/etc/x.h", "../x.h", ""])
def test_header_names_must_be_relative(name):
    with pytest.raises(_errors.ValidationError, match="relative name"):
        compile_source("", program_name="t.cu", headers={name: ""})


def test_include_dirs_and_defines(tmp_path):
    (tmp_path / "width.h").write_text("constexpr int width = WIDTH;")
    result = compile_source(
        '#include "width.h"\n__global__ void k(int* x) { *x = width; }',
        program_name="t.cu",
        include_dirs=[tmp_path],
        defines={"WIDTH": "77"},
    )
    assert ", 77;" in result.ptx


def test_our_headers_win_over_include_dirs(tmp_path):
    (tmp_path / "cuda_fp16.h").write_text("#error not this one")
    compile_source(
        "#include <cuda_fp16.h>\n__global__ void k(__half* x) {}",
        program_name="t.cu",
        include_dirs=[tmp_path],
    )


def test_a_header_of_the_user_wins_over_ours():
    with pytest.raises(_errors.CompileError, match="the user's"):
        compile_source(
            "#include <cuda_fp16.h>",
            program_name="t.cu",
            headers={"cuda_fp16.h": "#error the user's"},
        )


def test_std():
    source = "template <class T> concept C = true;"
    compile_source(source, program_name="t.cu", std="c++20")
    with pytest.raises(_errors.CompileError):
        compile_source(source, program_name="t.cu", std="c++17")


def test_fast_math_uses_the_approximations():
    source = "__global__ void k(float* x) { *x = sinf(*x) + expf(*x); }"
    exact = compile_source(source, program_name="t.cu").ptx
    fast = compile_source(source, program_name="t.cu", fast_math=True).ptx
    assert "sinf" in exact
    assert "sin.approx" not in exact
    assert "sin.approx" in fast
    assert "ex2.approx" in fast


def test_ndebug_removes_assertions():
    source = "__global__ void k(int* x) { assert(*x > 0); }"
    assert "__assertfail" in compile_source(source, program_name="t.cu").ptx
    quiet = compile_source(source, program_name="t.cu", defines={"NDEBUG": "1"})
    assert "__assertfail" not in quiet.ptx


def test_contraction():
    source = "__global__ void k(float* x) {{ *x = {}; }}"
    fused = compile_source(source.format("x[1] * x[2] + x[3]"), program_name="t.cu")
    split = compile_source(
        source.format("__fadd_rn(__fmul_rn(x[1], x[2]), x[3])"), program_name="t.cu"
    )
    assert "fma.rn.f32" in fused.ptx
    assert "fma" not in split.ptx


def test_warnings_are_in_the_log():
    result = compile_source(
        '__global__ void k(int* x) {}\n#warning "look here"', program_name="t.cu"
    )
    assert "t.cu:2:2: warning" in result.log


@pytest.mark.parametrize("quotes", ["<{}>", '"{}"'])
@pytest.mark.parametrize("name", ["math.h", "vector_types.h", "jrc_prelude.h"])
def test_any_header_of_the_users_text_wins_over_ours(name, quotes):
    result = compile_source(
        f"#include {quotes.format(name)}\n__global__ void k(int* x) {{ *x = OWN; }}",
        program_name="t.cu",
        headers={name: "#define OWN 4321"},
    )
    assert ", 4321;" in result.ptx


def test_file_names_are_those_of_includes():
    source = '#include "a/b.h"\n__global__ void k(int* x) { f(x); }'
    header = "__device__ __noinline__ void f(int* x) { *x = 1; }"
    result = compile_source(source, program_name="t.cu", headers={"a/b.h": header})
    assert set(re.findall(r'\.file\t\d+ "(.*?)"', result.ptx)) == {"t.cu", "a/b.h"}


def test_no_clang(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAX_RAWCUDA_CLANG", raising=False)
    monkeypatch.setattr(toolchain, "_ziglang", lambda: None)
    toolchain._find.cache_clear()
    with pytest.raises(
        _errors.UnsupportedError, match=r"needs clang: pip install 'jax-rawcuda\[cpu\]'"
    ):
        toolchain.find_clang()


def test_clang_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("JAX_RAWCUDA_CLANG", str(tmp_path / "none"))
    with pytest.raises(_errors.UnsupportedError, match="no such program"):
        toolchain.find_clang()
    program = tmp_path / "clang"
    program.write_text("#!/bin/sh\necho clang version 14.0.6\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAX_RAWCUDA_CLANG", str(program))
    with pytest.raises(_errors.UnsupportedError, match=r"is clang 14\.0; .* needs"):
        toolchain.find_clang()


def test_a_compiler_that_cannot_precompile_still_compiles(monkeypatch):
    monkeypatch.setattr(
        clang, "prelude_flags", lambda *_: ("-include", "jrc_prelude.h")
    )
    ptx = compile_source(
        "__global__ void slow(int* x) { *x = __popc(*x); }", program_name="t.cu"
    ).ptx
    assert "popc.b32" in ptx


def test_an_uninitialised_shuffle_operand_is_no_licence_to_optimise():
    source = """__global__ void k(int* x) {
  int p;
  if (threadIdx.x == 0) p = x[99];
  x[threadIdx.x] = __shfl_sync(~0u, p, 0);
}"""
    ptx = compile_source(source, program_name="t.cu").ptx
    assert re.search(r"setp\.\w+\.\w+\s+%p1, %r\d+, 0", ptx)


@pytest.mark.skipif(not cccl_include_dirs(), reason="needs the CCCL package")
def test_a_barrier_may_be_shared():
    source = """#include <cuda/barrier>
__global__ void k() {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  barrier.arrive_and_wait();
}"""
    assert "mbarrier.init" in compile_source(source, program_name="t.cu").ptx
