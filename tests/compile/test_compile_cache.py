"""The cache of compilations: what is in its key, and threads that share it."""

from __future__ import annotations

import re
import threading
import time

import pytest
from support.process import run_python
from support.programs import compiled, compiles, needs_nvrtc, program

from jax_rawcuda._base import cache as _cache
from jax_rawcuda._base.errors import CompileError, ValidationError
from jax_rawcuda._compile.compilation import compile_program
from jax_rawcuda._compile.compiler import CLANG, nvrtc_for
from jax_rawcuda._compile.program import Program
from jax_rawcuda._source.options import NvrtcOptions
from jax_rawcuda._source.text import Location

pytestmark = pytest.mark.usefixtures("fresh_cache")


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


LINES = "#define LINE __LINE__\n"


def key_at(source, line, **options):
    made = Program("k", source, NvrtcOptions(**options), Location("a.py", line))
    return made.content_key()


@pytest.mark.parametrize(
    ("source", "options", "matter"),
    [
        ("__global__ void k() {}", {}, False),
        ("__global__ void k() { assert(1); }", {}, True),
        ("__global__ void k() {}", {"line_info": True}, True),
        ("__global__ void k() {}", {"debug": True}, True),
        ("__global__ void k(int* x) { *x = L; }", {"defines": {"L": "__LINE__"}}, True),
        ('#include "l.h"\n', {"headers": {"l.h": LINES}}, True),
        ('#include "l.h"\n', {"headers": {"l.h": ""}}, False),
    ],
)
def test_lines_are_in_the_key_only_when_the_code_knows_them(source, options, matter):
    assert (key_at(source, 1, **options) != key_at(source, 2, **options)) is matter


def test_a_header_may_know_lines(include_dir):
    source, options = '#include "used.h"\n', {"include_dirs": [include_dir]}
    assert key_at(source, 1, **options) == key_at(source, 2, **options)
    (include_dir / "inner.h").write_text(LINES)
    assert key_at(source, 1, **options) != key_at(source, 2, **options)


# Headers that change while the process runs. Both compilers, one rule.

COMPILERS = [pytest.param(nvrtc_for("sm_90"), marks=needs_nvrtc, id="nvrtc"), CLANG]
USES_N = "__global__ void k(int* x) { *x = N; }"


def numbers(made, compiler):
    """The constants that a compiled program stores."""
    ptx = compile_program(made, compiler).ptx
    return re.findall(r"\b(?:mov|st)\S+ .*, (\d+);", ptx)


@pytest.fixture
def write(tmp_path):
    """Writes a header `n.h` with a number in it."""

    def write(number):
        (tmp_path / "n.h").write_text(f"#define N {number}\n")
        return tmp_path

    return write


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("spelling", ['"n.h"', "<n.h>", '"{}/n.h"', "H"])
def test_an_edited_header_is_compiled_anew(write, compiler, spelling):
    folder = write(0)
    source = f"#include {spelling.format(folder)}\n{USES_N}"
    options = {"defines": {"H": '"n.h"'}}
    if "{}" not in spelling:
        options["include_dirs"] = [folder]
    for number in ("701", "702", "701"):
        write(number)
        assert number in numbers(program(source, **options), compiler)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_header_that_only_the_compiler_finds_is_compiled_anew(write, compiler):
    folder = write(0)
    source = f"#define STR(x) #x\n#include STR({folder}/n.h)\n{USES_N}"
    made = [program(source) for _ in range(2)]
    assert made[0].content_key() != made[1].content_key()
    for number in ("711", "712"):
        write(number)
        assert number in numbers(made[0], compiler)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_program_compiles_the_headers_it_was_made_with_or_none(write, compiler):
    source, folder = f'#include "n.h"\n{USES_N}', write(721)
    early = program(source, include_dirs=[folder])
    write(722)
    for _ in range(2):
        with pytest.raises(
            ValidationError, match=r"k: \S*/n\.h changed since the source"
        ):
            numbers(early, compiler)
    late = program(source, include_dirs=[folder])
    assert "722" in numbers(late, compiler)
    write(721)
    assert "721" in numbers(early, compiler)
    assert "722" in numbers(late, compiler)  # from the cache


@needs_nvrtc
def test_a_text_does_not_search_the_working_directory(write, monkeypatch):
    monkeypatch.chdir(write(731))
    for compiler in (nvrtc_for("sm_90"), CLANG):
        with pytest.raises(
            CompileError, match=r"n\.h.*\n(?:.*\n)*Hint: .*include_dirs"
        ):
            numbers(program(f'#include "n.h"\n{USES_N}'), compiler)


def test_clang_compiles_equal_programs_once_per_line():
    start = compiles()
    results = [
        compile_program(program(USES_N, defines={"N": 741}), CLANG) for _ in range(2)
    ]
    assert results[0] == results[1]
    again = compiles()
    assert again > start
    _cache.clear_caches()  # as in the next process
    compile_program(program(USES_N, defines={"N": 741}), CLANG)
    assert compiles() == again
    moved = Program("k", USES_N, NvrtcOptions(defines={"N": 741}), Location("a.py", 9))
    assert '"a.py"' in compile_program(moved, CLANG).ptx


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
    run_python("""
        import sys, jax_rawcuda
        heavy = ("cuda.bindings", "llvmlite")
        bad = [m for m in sys.modules if m.startswith(heavy)]
        assert not bad, bad
    """)
