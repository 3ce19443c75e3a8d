"""Guards that end a row of threads: found where they are safe, and right everywhere."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from support.cpu_runner import PREAMBLE, compile_ptx, run

import jax_rawcuda as rc
from jax_rawcuda.cpu.translate import translate

INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"

# Name, body of `k(int* out, int n)`, whether the guard may end the row, and NumPy's
# opinion of out[i] for i in range(200) with n = 150; untouched elements stay -1.
CASES = [
    ("wrapped body", f"{INDEX} if (i < n) out[i] = i;", True, "i < n"),
    ("early return", f"{INDEX} if (i >= n) return; out[i] = i;", True, "i < n"),
    ("inclusive", f"{INDEX} if (i > n) return; out[i] = i;", True, "i <= n"),
    ("bound first", f"{INDEX} if (n <= i) return; out[i] = i;", True, "i < n"),
    ("scaled", f"{INDEX} if (3 * i >= n) return; out[i] = i;", True, "3 * i < n"),
    (
        "64-bit",
        "long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;"
        "if (i < (long long)n) out[i] = i;",
        True,
        "i < n",
    ),
    (
        "with a uniform bound",
        f"{INDEX} if (i >= n || blockIdx.x > 2) return; out[i] = i;",
        True,
        "(i < n) & (i < 96)",
    ),
    ("leaves at the front", f"{INDEX} if (i < n) return; out[i] = i;", False, "i >= n"),
    (
        "descending",
        f"{INDEX} if (n - i >= 20) return; out[i] = i;",
        False,
        "n - i < 20",
    ),
    (
        "unsigned wrap",
        "unsigned i = blockIdx.x * blockDim.x + threadIdx.x - 5u;"
        "if (i < (unsigned)n) out[i] = i;",
        False,
        "i < n",
    ),
    (
        "a sum that wraps",
        f"{INDEX} int h = i * 8u + 0x7ffffb90u;"
        "if (h >= 0x7ffffd80) return; out[i] = i;",
        True,
        "(i < 62) | (i >= 142)",
    ),
    (
        "a wide sum of what wraps",
        f"{INDEX} long long h = (int)(i + 0x7fffff9bu);"
        "if (h + n >= 0x7fffffff) return; out[i] = i;",
        True,
        "i >= 101",
    ),
    (
        "two that wrap",
        f"{INDEX} long long h = (long long)(int)(2u * i + 0x7fffff80u)"
        " - (int)(i + 0x7fffff98u); if (h >= 10) return; out[i] = i;",
        False,
        "(2 * i + 0x7fffff80).astype(np.int32).astype(np.int64)"
        "- (i + 0x7fffff98).astype(np.int32) < 10",
    ),
    (
        "a product that wraps",
        f"{INDEX} int h = i * 0x5bd1e995u; if (h >= 0) return; out[i] = i;",
        False,
        "(i * 0x5bd1e995).astype(np.int32) < 0",
    ),
    (
        "a byte",
        f"{INDEX} signed char h = i + 5; if ((int)h >= n - 100) return; out[i] = i;",
        False,
        "(i + 5).astype(np.int8) < 50",
    ),
    (
        "bits set",
        f"{INDEX} int h = i | 8; if (h >= n - 10) return; out[i] = i;",
        False,
        "(i | 8) < n - 10",
    ),
    (
        "every third thread",
        f"{INDEX} if (i % 3 == 0 || i >= n) return; out[i] = i;",
        False,
        "(i % 3 > 0) & (i < n)",
    ),
    (
        "a store before",
        f"{INDEX} if (i < 200) out[i] = i; if (i >= n) return; out[i] = i;",
        False,
        "i < 200",
    ),
]


def source(body):
    return f"(int* out, int n) {{ {body} }}"


@pytest.mark.parametrize(
    ("body", "wanted"), [c[1::2] for c in CASES], ids=[c[0] for c in CASES]
)
def test_values_stay(body, wanted):
    kernel = rc.kernel(
        PREAMBLE + source(body),
        shapes="m",
        in_out="out",
        launch=lambda *_: rc.LaunchConfig(grid=7, block=32),
    )
    device = jax.devices("cpu")[0]
    start = jax.device_put(np.full(224, -1, np.int32), device)
    got = np.asarray(jax.jit(lambda out: kernel(out, 150))(start))
    i, n = np.arange(224), 150
    keep = eval(wanted, {"i": i, "n": n, "np": np})
    np.testing.assert_array_equal(got, np.where(keep, i, -1))


@pytest.mark.parametrize(
    ("body", "expected"), [c[1:3] for c in CASES], ids=[c[0] for c in CASES]
)
def test_only_safe_guards_end_the_row(body, expected):
    lines = translate(compile_ptx(source(body)), "k").ir.splitlines()
    # Besides the end of the loop over threadIdx.x.
    exits = [line for line in lines if line.startswith("  br") and "%rowlatch" in line]
    assert (len(exits) > 1) == expected


@pytest.mark.parametrize("word", ["", "volatile"])
def test_stores_of_some_threads_only(word):
    # LLVM vectorises what some lanes store; what is volatile it must leave alone.
    source = f"""(float* y) {{
      __shared__ {word} float s[64];
      int t = threadIdx.x;
      s[t] = y[t];
      __syncthreads();
      if (t < 16) s[t] += s[t + 16];
      __syncthreads();
      y[t] = s[t];
    }}"""
    x = np.arange(64, dtype=np.float32)
    want = np.concatenate([x[:16] + x[16:32], x[16:]])
    np.testing.assert_array_equal(run(source, x, block=64)[0], want)
