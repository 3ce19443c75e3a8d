"""Which headers a text needs, which it opens, and their part in the key."""

from __future__ import annotations

import pytest

from jax_rawcuda._headers import auto_includes, headers_key

pytestmark = pytest.mark.usefixtures("fresh_cache")


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
