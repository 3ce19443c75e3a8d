"""NVRTC without a GPU: what it compiles, and what it says when it cannot."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from support.programs import compiled, needs_nvrtc, program

import jax_rawcuda as rc
from jax_rawcuda._base import cache as _cache
from jax_rawcuda._base.errors import CompileError, UnsupportedError, ValidationError
from jax_rawcuda._compile import nvrtc as _nvrtc
from jax_rawcuda._compile.compilation import compile_program
from jax_rawcuda._compile.compiler import Compiler
from jax_rawcuda._compile.diagnostics import hints
from jax_rawcuda._compile.result import CompileResult, Usage
from jax_rawcuda._source.headers import cuda_include_dirs
from jax_rawcuda._source.shims import shims

pytestmark = pytest.mark.usefixtures("fresh_cache")


@pytest.mark.parametrize(
    ("log", "advice"),
    [
        ('cannot open source file "foo.h"', "NvrtcOptions.include_dirs"),
        ('cannot open source file "type_traits"', "<cuda/std/type_traits>"),
        ('cannot open source file "cub/block/x.cuh"', "pip install nvidia-cuda-cccl"),
        ('cannot open source file "crt/mma.h"', "pip install nvidia-cuda-crt"),
        ('cannot open source file "cuda_fp16.h"', "pip install nvidia-cuda-runtime"),
        ("fatal error: 'foo.h' file not found", "NvrtcOptions.include_dirs"),
        ("cub/cub.cuh(17): catastrophic error", "<cub/block/block_reduce.cuh>"),
        ('identifier "uint8_t" is undefined', "#include <cstdint>"),
        ('identifier "half" is undefined', "#include <cuda_fp16.h>"),
        ('identifier "__nv_bfloat16" is undefined', "#include <cuda_bf16.h>"),
        ('identifier "INFINITY" is undefined', "#include <cmath>"),
        ('identifier "FLT_MAX" is undefined', "#include <cfloat>"),
        ('identifier "UINT_MAX" is undefined', "#include <climits>"),
        ('identifier "uint" is undefined', "NvrtcOptions.defines"),
        ('namespace "std" has no member "min"', "cuda::std::"),
        ("unknown type name 'uint32_t'", "#include <cstdint>"),
        ("use of undeclared identifier 'M_PI'", "#include <cmath>"),
        ("use of undeclared identifier 'INT_MIN'", "#include <climits>"),
        ("unknown type name '__half'", "#include <cuda_fp16.h>"),
        ("unknown type name 'ushort'", "NvrtcOptions.defines"),
        ("unknown type name 'cudaTextureObject_t'", "Read global memory"),
        ('identifier "tex2D" is undefined', "Read global memory"),
        ("error: texture is not a template", "Read global memory"),
        ("error: device-side kernel launch could not be processed", "an rc.op"),
        (
            "error   : Instruction 'wgmma.fence' not supported on .target 'sm_90'",
            'NvrtcOptions(arch="sm_90a")',
        ),
    ],
)
def test_hints(log, advice):
    assert len(hints(log)) == 1
    assert advice in hints(log)[0]


def test_no_hint_where_nothing_is_known():
    assert hints('error: identifier "y" is undefined') == []


# The compiler.


def test_results_survive_the_cache():
    result = CompileResult(
        b"\0cubin", "ptx", (("k<1>", "_Z1k"),), (("k", "void (*)()"),),
        (("_Z1k", Usage(8, 1, 2, 3)),), "a warning",
    )  # fmt: skip
    assert CompileResult.decode(result.encode()) == result


@needs_nvrtc
def test_one_compile_gives_cubin_ptx_types_and_usage():
    result = compiled(
        'extern "C" __global__ void k(const float* x, int n) {}\n'
        "template <class T> __global__ void t(T* x) { __shared__ T s[9]; s[1] = 1;"
        " __syncthreads(); *x = s[threadIdx.x]; }",
        "t<float>",
    )
    assert result.cubin.startswith(b"\x7fELF")
    assert ".target sm_90" in result.ptx
    assert dict(result.types) == {
        "k": "void (*)(float const*, int)",
        "t<float>": "void (*)(float*)",
    }
    assert dict(result.lowered_names) == {"t<float>": "_Z1tIfEvPT_"}
    usage = dict(result.usage)["_Z1tIfEvPT_"]
    assert usage.registers > 0
    assert usage.shared_bytes == 36
    assert result.log == ""


@needs_nvrtc
def test_usage_reports_spills():
    body = "".join(f"float a{i} = x[{i} * n];" for i in range(64))
    body += "__syncthreads();" + "".join(f"x[a{i} > 0] = a{i};" for i in range(64))
    result = compiled(
        f"__global__ void k(float* x, int n) {{{body}}}", max_registers=24
    )
    assert result.usage[0][1].spill_bytes > 0
    assert result.usage[0][1].local_bytes > 0


@needs_nvrtc
@pytest.mark.parametrize("name", shims())
def test_every_shim_compiles_alone(name):
    compiled(f"#include <{name}>\n__global__ void k() {{}}")


@needs_nvrtc
def test_shims_hold_what_people_use():
    result = compiled(
        "".join(f"#include <{name}>\n" for name in shims())
        + """
        __global__ void k(float* x, double* y, std::int64_t* z, uint8_t u,
                          intptr_t* p) {
          assert(u < UINT8_MAX);
          *x = std::sqrt(*x) + std::abs(*x) + fmaxf(INFINITY, FLT_MAX) + NAN;
          *y = std::pow(*y, 2.0) * M_PI + DBL_EPSILON + std::isnan(*x);
          std::memcpy(x, y, sizeof(float));
          std::printf("%d", INT_MAX);
          z[0] = INT64_MAX + offsetof(double2, y) + SIZE_MAX;
        }"""
    )
    assert ".entry _Z1kPfPdPxhS1_(" in result.ptx


@needs_nvrtc
@pytest.mark.parametrize(
    "header",
    [
        "cuda_fp16.h",
        "cuda_bf16.h",
        "cuda_fp8.h",
        "cuComplex.h",
        pytest.param("cooperative_groups.h", marks=pytest.mark.slow),
        pytest.param("cub/block/block_reduce.cuh", marks=pytest.mark.slow),
        pytest.param("cuda/std/complex", marks=pytest.mark.slow),
    ],
)
def test_headers_of_the_wheels_compile_beside_the_shims(header):
    assert cuda_include_dirs()
    shims = "#include <cstdint>\n#include <climits>\n#include <cfloat>\n"
    compiled(f"{shims}#include <{header}>\n__global__ void k() {{}}")


@needs_nvrtc
def test_options_reach_the_compiler(include_dir):
    result = compiled(
        '#include "used.h"\n#include "mem.h"\n'
        '#if N + M + D != 111\n#error "not defined"\n#endif\n'
        "template <class T> concept C = true;\n__global__ void k() {}",
        std="c++20",
        include_dirs=[include_dir],
        headers={"mem.h": "#define M 10"},
        defines={"D": 100},
    )
    assert result.cubin


@needs_nvrtc
def test_a_syntax_error_carries_everything():
    with pytest.raises(CompileError) as caught:
        compiled("__global__ void k(float* x) { *x = y; }", std="c++17")
    error = caught.value
    assert str(error).startswith("k failed to compile for sm_90 (NVRTC ")
    assert "options: --std=c++17)." in str(error)
    assert 'identifier "y" is undefined' in error.log
    assert error.log in str(error)
    assert error.arch == "sm_90"
    assert error.options == ("--gpu-architecture=sm_90", "--std=c++17")
    assert "*x = y" in error.source
    assert pickle.loads(pickle.dumps(error)).log == error.log
    stats = _cache.cache_stats()
    assert (stats.entries, stats.disk_dir is not None) == (0, True)


@needs_nvrtc
def test_the_error_points_at_this_file():
    with pytest.raises(CompileError) as caught:
        rc.compile_nvrtc(r"""
        __global__ void points_here(float* x) {
          *x = nothing_like_this;
        }""")
    lines = Path(__file__).read_text(encoding="utf-8").split("\n")
    line = 1 + lines.index("          *x = nothing_like_this;")
    assert f"{__file__}({line}): error" in caught.value.log


@needs_nvrtc
@pytest.mark.parametrize("arch", ["sm_61", "sm_999", "compute_50"])
def test_an_unknown_arch_lists_the_known(arch):
    with pytest.raises(ValidationError, match=rf"{arch}.*knows sm_75.*nearest is sm_"):
        compile_program(program("__global__ void k() {}"), Compiler("nvrtc", arch))


@needs_nvrtc
@pytest.mark.parametrize("arch", ["sm_90a", "sm_80", "compute_90"])
def test_known_archs_compile(arch):
    result = compile_program(program("__global__ void k() {}"), Compiler("nvrtc", arch))
    assert bool(result.cubin) == arch.startswith("sm_")


@needs_nvrtc
def test_a_refused_flag_is_in_the_error():
    with pytest.raises(CompileError, match="--no-such-flag"):
        compiled("__global__ void k() {}", extra=["--no-such-flag"])


def test_without_nvrtc_the_error_names_the_wheel(monkeypatch):
    monkeypatch.setattr(_nvrtc, "_binding", lambda: None)
    _nvrtc.version.cache_clear()
    _nvrtc.supported_archs.cache_clear()
    assert not _nvrtc.is_available()
    with pytest.raises(UnsupportedError, match="pip install cuda-bindings nvidia-cuda"):
        compile_program(program("__global__ void k() {}"), Compiler("nvrtc", "sm_90"))
