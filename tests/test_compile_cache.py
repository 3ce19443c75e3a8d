"""The cache of compilations: what is in its key, and threads that share it."""

from __future__ import annotations

import sys
import threading
import time

import pytest
from _programs import compiled, compiles, needs_nvrtc, program

from jax_rawcuda._nvrtc import NvrtcOptions
from jax_rawcuda._program import Program

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
