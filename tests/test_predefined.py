"""What docs/api.md lists for sources: known to NVRTC and to clang, as it says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import jax_rawcuda as rc

DOCUMENT = Path(__file__).parents[1] / "docs" / "api.md"
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
    uses = [USES.get(name, f"(void)sizeof({name})") for name in names]
    include = f"#include {header}" if header else ""
    source = (
        f"{include}\n__global__ void k(float* out) {{ *out = 0; {'; '.join(uses)}; }}"
    )
    kernel = rc.kernel(source, shapes="-> 1", threads=1, block=1)
    np.testing.assert_array_equal(kernel(), [0])


def test_what_needs_no_include():
    assert len(FREE) > 20
    compiled(FREE)


@pytest.mark.parametrize(("header", "names"), HEADERS, ids=[h for h, _ in HEADERS])
def test_what_needs_one(header, names):
    compiled(names, header)
    for name in names:
        with pytest.raises(rc.CompileError):
            compiled([name])


@pytest.mark.parametrize("name", ["uint", "uchar"])
def test_what_there_is_not(name):
    with pytest.raises(rc.CompileError):
        compiled([name])
    with pytest.raises(rc.CompileError, match="algorithm"):
        compiled([], "<algorithm>")
