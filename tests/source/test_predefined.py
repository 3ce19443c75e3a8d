"""What docs/api.md lists for sources: known to NVRTC and to clang, as it says."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.paths import ROOT

import jax_rawcuda as rc

DOCUMENT = ROOT / "docs" / "api.md"
# What is no type or value is used in a call.
USES = {
    "atomicAdd": "atomicAdd(out, 0.0f)",
    "__shfl_sync": "__shfl_sync(1u, 1, 0)",
    "make_float4": "make_float4(1, 2, 3, 4)",
    "printf": 'printf("")',
    "assert": "assert(out)",
    "malloc": "free(malloc(8))",
    "free": "free(nullptr)",
    "memcpy": "memcpy(out, out, 4)",
    "memset": "memset(out, 0, 4)",
    "clock64": "clock64()",
    "sinf": "sinf(1.0f)",
    "sqrt": "sqrt(2.0f)",
    "pow": "pow(2.0, 3.0)",
    "min": "min(1, 2)",
    "max": "max(1.0f, 2.0f)",
    "abs": "abs(-1)",
    "isnan": "isnan(1.0f)",
    "isinf": "isinf(1.0f)",
    "isfinite": "isfinite(1.0f)",
    "std::move": "std::move(*out)",
    "std::forward": "std::forward<float>(*out)",
    "std::sqrt": "std::sqrt(2.0f)",
    "std::isnan": "std::isnan(1.0f)",
    "offsetof": "offsetof(float4, y)",
    "cuda::std::complex": "(void)sizeof(cuda::std::complex<float>)",
    "cuda::std::numeric_limits": "cuda::std::numeric_limits<float>::max()",
}


def tables():
    """(names known without a header, [(header, names that need it)])."""
    part = DOCUMENT.read_text().partition("## In a source\n")[2].partition("\n## ")[0]
    rows = [r.strip("| ").split(" | ") for r in part.splitlines() if r[:3] == "| `"]
    listed = [(first, re.findall(r"`([^`]+)`", second)) for first, second in rows]
    headers = [(re.findall("`(<.+?>)`", first), names) for first, names in listed]
    free = re.findall(r"`([^`]+)`", part.partition("\n| ")[0])
    return free, [(header[0], names) for header, names in headers if header]


FREE, HEADERS = tables()


def compiled(names, header=""):
    """Compiles one kernel with both compilers, and runs it."""
    uses = [(USES | ABSENT).get(name, f"(void)sizeof({name})") for name in names]
    include = f"#include {header}" if header else ""
    source = (
        f"{include}\n__global__ void k(float* out) {{ *out = 0; {'; '.join(uses)}; }}"
    )
    kernel = rc.kernel(source, shapes="-> 1", threads=1, block=1)
    np.testing.assert_array_equal(kernel(), [0])


@pytest.fixture(params=["nvrtc", "clang"])
def reader(request):
    if request.param == "clang":
        request.getfixturevalue("no_nvrtc")


@pytest.mark.usefixtures("reader")
def test_what_needs_no_include():
    assert len(FREE) > 20
    compiled(FREE)


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize(("header", "names"), HEADERS, ids=[h for h, _ in HEADERS])
def test_what_needs_one(header, names):
    compiled(names, header)
    for name in names:
        with pytest.raises(rc.CompileError):
            compiled([name])


# Some are known to nvcc, or to C.
ABSENT = {
    "strlen": 'strlen("")',
    "strcmp": 'strcmp("", "")',
    "memcmp": "memcmp(out, out, 4)",
    "memmove": "memmove(out, out, 4)",
    "memchr": "memchr(out, 0, 4)",
    "isnormal": "isnormal(1.0f)",
    "__globaltimer": "__globaltimer()",
    "cudaGridDependencySynchronize": "cudaGridDependencySynchronize()",
    "std::abs": "std::abs(-1.0f)",
    "std::printf": 'std::printf("")',
    "std::malloc": "std::malloc(4)",
    "std::memcpy": "std::memcpy(out, out, 4)",
    "std::size_t": "sizeof(std::size_t)",
    "std::min": "std::min(1, 2)",
    "std::swap": "std::swap(*out, *out)",
    "std::is_same": "sizeof(std::is_same<int, int>)",
    "std::numeric_limits": "std::numeric_limits<int>::max()",
    "std::uint32_t": "sizeof(std::uint32_t)",
    "cuda::std::pair": "sizeof(cuda::std::pair<int, int>)",
    "cooperative_groups": "cooperative_groups::this_thread_block().sync()",
    "curand": "sizeof(curandState)",
}


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("name", ABSENT)
def test_what_needs_another_header_or_does_not_exist(name):
    with pytest.raises(rc.CompileError):
        compiled([name])


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("name", ["uint", "uchar"])
def test_what_there_is_not(name):
    with pytest.raises(rc.CompileError):
        compiled([name])
    with pytest.raises(rc.CompileError, match="algorithm"):
        compiled([], "<algorithm>")
