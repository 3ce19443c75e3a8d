"""NVRTC without a GPU: options, headers, diagnostics, the key of the cache."""

import pickle
import sys
import threading
import time
from pathlib import Path

import pytest

import jax_rawcuda as rc
from jax_rawcuda import _cache, _nvrtc
from jax_rawcuda._diagnostics import hints
from jax_rawcuda._errors import CompileError, UnsupportedError, ValidationError
from jax_rawcuda._headers import auto_includes, cuda_include_dirs, headers_key
from jax_rawcuda._nvrtc import NvrtcOptions, NvrtcResult, Usage
from jax_rawcuda._program import Program
from jax_rawcuda._shims import SHIMS

needs_nvrtc = pytest.mark.skipif(
    not _nvrtc.is_available(), reason="NVRTC is not installed"
)


@pytest.fixture(autouse=True)
def fresh_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("JAX_RAWCUDA_CACHE_DIR", str(tmp_path / "cache"))
    _cache.clear_caches()


def program(source, **options):
    return Program("k", source, NvrtcOptions(**options))


def compiled(source, *expressions, **options):
    return program(source, **options).compile("sm_90", expressions)


# Options.


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"arch": "90"}, r"arch='90': a name such as \"sm_90\""),
        ({"arch": 90}, "arch=90"),
        ({"std": "c++98"}, r"std='c\+\+98': one of c\+\+03"),
        ({"max_registers": 0}, "max_registers=0: an int from 1 to 255"),
        ({"max_registers": True}, "max_registers=True"),
        ({"max_registers": 1.5}, r"max_registers=1\.5"),
        ({"fast_math": 1}, "fast_math=1: True or False"),
        ({"defines": {"a b": 1}}, "defines='a b': each name must be a C identifier"),
        ({"defines": {"N": 1.5}}, r"defines\['N'\]=1\.5"),
        ({"defines": "N"}, "defines='N': a mapping is needed"),
        ({"defines": [1]}, "a mapping is needed"),
        ({"headers": {"a.h": 1}}, "headers='a.h'"),
        ({"headers": {"a.h": "\0"}}, "headers='a.h'"),
        ({"include_dirs": "inc"}, "include_dirs='inc': a list of directories"),
        ({"include_dirs": [1]}, "include_dirs=1: each must be a path"),
        ({"extra": "-G"}, "extra='-G': a list of flags"),
        ({"extra": ["-arch=sm_90"]}, r"set NvrtcOptions\.arch instead"),
        ({"extra": ["--gpu-architecture=sm_90"]}, r"set NvrtcOptions\.arch instead"),
        ({"extra": [""]}, "non-empty str"),
    ],
)
def test_bad_options_are_named(options, says):
    with pytest.raises(ValidationError, match=says):
        NvrtcOptions(**options)


def test_equal_options_are_equal_however_written():
    one = NvrtcOptions(defines={"B": 2, "A": None}, headers={"a.h": ""}, extra=["-w"])
    two = NvrtcOptions(defines={"A": "1", "B": "2"}, headers={"a.h": ""}, extra=("-w",))
    assert one == two
    assert hash(one) == hash(two)
    assert pickle.loads(pickle.dumps(one)) == one
    assert one != NvrtcOptions()


def test_flags():
    options = NvrtcOptions(
        std="c++20",
        defines={"N": 4, "NAME": '"x y"'},
        fast_math=True,
        max_registers=32,
        line_info=True,
        debug=True,
        extra=["-w"],
    )
    assert options.flags() == (
        "--std=c++20",
        "--define-macro=N=4",
        '--define-macro=NAME="x y"',
        "--use_fast_math",
        "--maxrregcount=32",
        "--generate-line-info",
        "--device-debug",
        "-w",
    )


def test_a_missing_include_dir_is_named(tmp_path):
    options = NvrtcOptions(include_dirs=[tmp_path / "no"])
    with pytest.raises(ValidationError, match=r"no directory '.*no'"):
        _ = options.include_paths


# Which headers a text needs, and which it opens.


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("__global__ void k(__half* x)", ("cuda_fp16.h",)),
        ("__global__ void k(const half* x)", ("cuda_fp16.h",)),
        ("half2 h;", ("cuda_fp16.h",)),
        ("__nv_bfloat16* x", ("cuda_bf16.h",)),
        ("nv_bfloat162 x", ("cuda_bf16.h",)),
        ("__nv_fp8_e4m3* x", ("cuda_fp8.h",)),
        ("#include <cuda_fp16.h>\n__half* x", ()),
        ('#include "cuda_bf16.h"\n__nv_bfloat16 x; __half y', ("cuda_fp16.h",)),
        ("float half = 0.5f;", ()),
        ("#define half 0.5f\nfloat x = half;", ()),
        ("void f(float half) { g(half); }", ()),
        ("// __half\n/* half* */", ()),
        ("float* x", ()),
    ],
)
def test_auto_includes(source, names):
    assert auto_includes(source) == names


def test_template_arguments_bring_their_header():
    source = "template <class T> __global__ void k(T* x) {}"
    assert auto_includes(source, ("k<__half>",)) == ("cuda_fp16.h",)


@pytest.fixture
def include_dir(tmp_path):
    folder = tmp_path / "include"
    folder.mkdir()
    (folder / "used.h").write_text('#include "inner.h"\n')
    (folder / "inner.h").write_text("#define N 1\n")
    (folder / "unused.h").write_text("")
    return folder


def test_the_key_follows_includes(include_dir):
    def key():
        return headers_key('#include "used.h"\n', {}, [str(include_dir)])

    before = key()
    (include_dir / "unused.h").write_text("int changed;")
    assert key() == before
    (include_dir / "inner.h").write_text("#define N 2\n")
    assert key() != before


def test_the_key_does_not_know_paths(include_dir, tmp_path):
    moved = tmp_path / "elsewhere"
    include_dir.rename(moved)
    include_dir.mkdir()
    for path in moved.iterdir():
        (include_dir / path.name).write_text(path.read_text())
    source = "#include <used.h>\n"
    here = headers_key(source, {}, [str(include_dir)])
    assert here == headers_key(source, {}, [str(moved)])


def test_the_key_covers_headers_in_memory_and_those_to_come(include_dir):
    source = '#include "used.h"\n#if __has_include("later.h")\n#endif\n'
    folders = [str(include_dir)]
    before = headers_key(source, {}, folders)
    assert headers_key(source, {"used.h": "int x;"}, folders) != before
    (include_dir / "later.h").write_text("")
    assert headers_key(source, {}, folders) != before


def test_a_computed_include_takes_the_whole_directory(include_dir):
    source = "#define H <used.h>\n#include H\n"
    before = headers_key(source, {}, [str(include_dir)])
    (include_dir / "unused.h").write_text("int changed;")
    assert headers_key(source, {}, [str(include_dir)]) != before


def test_a_header_that_includes_itself_ends():
    assert headers_key('#include "a.h"', {"a.h": '#include "a.h"'}, [])


def test_cuda_headers_count_by_version_only_when_used():
    assert any("cuda\0" in line for line in headers_key("#include <mma.h>", {}, []))
    assert not any("cuda\0" in line for line in headers_key("#include <cmath>", {}, []))


# Diagnostics.


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
        ('namespace "std" has no member "min"', "cuda::std::"),
    ],
)
def test_hints(log, advice):
    assert len(hints(log)) == 1
    assert advice in hints(log)[0]


def test_no_hint_where_nothing_is_known():
    assert hints('error: identifier "y" is undefined') == []


# The compiler.


def test_results_survive_the_cache():
    result = NvrtcResult(
        b"\0cubin", "ptx", (("k<1>", "_Z1k"),), (("k", "void (*)()"),),
        (("_Z1k", Usage(8, 1, 2, 3)),), "a warning",
    )  # fmt: skip
    assert NvrtcResult.decode(result.encode()) == result


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
@pytest.mark.parametrize("name", SHIMS)
def test_every_shim_compiles_alone(name):
    compiled(f"#include <{name}>\n__global__ void k() {{}}")


@needs_nvrtc
def test_shims_hold_what_people_use():
    result = compiled(
        "".join(f"#include <{name}>\n" for name in SHIMS)
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
        program("__global__ void k() {}").compile(arch)


@needs_nvrtc
@pytest.mark.parametrize("arch", ["sm_90a", "sm_80", "compute_90"])
def test_known_archs_compile(arch):
    result = program("__global__ void k() {}").compile(arch)
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
        program("__global__ void k() {}").compile("sm_90")


# The cache of compilations.


def compiles():
    return _cache.cache_stats().compiles


@needs_nvrtc
def test_the_same_name_with_another_source_is_another_kernel():
    one = compiled("__global__ void k(float* x) { *x = 1; }")
    two = compiled("__global__ void k(float* x) { *x = 2; }")
    assert one.cubin != two.cubin


@needs_nvrtc
@pytest.mark.parametrize(
    "options",
    [
        {"std": "c++20"},
        {"fast_math": True},
        {"defines": {"N": 1}},
        {"max_registers": 32},
        {"headers": {"a.h": ""}},
        {"line_info": True},
        {"extra": ("-w",)},
    ],
)
def test_every_option_is_in_the_key(options):
    source = "__global__ void k() {}"
    assert program(source).content_key() != program(source, **options).content_key()


@needs_nvrtc
def test_the_directory_is_not_in_the_key_but_its_used_headers_are(
    include_dir, tmp_path
):
    source = '#include "used.h"\n__global__ void k(float* x) { *x = N; }'
    folder = include_dir.rename(tmp_path / "one")
    compiled(source, include_dirs=[folder])
    start = compiles()
    (folder / "unused.h").write_text("int changed;")
    folder = folder.rename(tmp_path / "two")
    compiled(source, include_dirs=[folder])
    assert compiles() == start
    (folder / "inner.h").write_text("#define N 2\n")
    compiled(source, include_dirs=[folder])
    assert compiles() == start + 1


@needs_nvrtc
def test_lines_are_in_the_key_only_when_the_code_knows_them():
    from jax_rawcuda._source import Location

    def key(source, line, **options):
        made = Program("k", source, NvrtcOptions(**options), Location("a.py", line))
        return made.content_key()

    plain, checked = "__global__ void k() {}", "__global__ void k() { assert(1); }"
    assert key(plain, 1) == key(plain, 2)
    assert key(checked, 1) != key(checked, 2)
    assert key(plain, 1, line_info=True) != key(plain, 2, line_info=True)


@needs_nvrtc
def test_eight_threads_compile_once():
    source = "__global__ void k(float* x) { *x = 8; }"
    start = compiles()
    barrier = threading.Barrier(8)
    results = []

    def work():
        barrier.wait()
        results.append(compiled(source).cubin)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert compiles() == start + 1
    assert len(results) == 8
    assert len(set(results)) == 1


@needs_nvrtc
@pytest.mark.slow
def test_other_threads_run_while_nvrtc_compiles():
    compiled("__global__ void k() {}")  # loads the library
    source = "#include <cuda/std/complex>\n__global__ void k() {}"
    thread = threading.Thread(target=compiled, args=(source,))
    longest = 0.0
    start = last = time.perf_counter()
    thread.start()
    while thread.is_alive():
        time.sleep(0.001)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    took = last - start
    assert longest < took / 2


@needs_nvrtc
def test_importing_the_package_loads_no_compiler():
    import subprocess

    script = (
        "import sys, jax_rawcuda\n"
        "heavy = ('cuda.bindings', 'llvmlite')\n"
        "bad = [m for m in sys.modules if m.startswith(heavy)]\n"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
