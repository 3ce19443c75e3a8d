"""Checked mode, where branches of a kernel share a source line, and so their stores."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import jax_rawcuda as rc

N = 64
# Threads from n on return early; the others meet at barriers.
BODIES = {
    "count": """if (t >= n) { y[t] = -1; return; }
      y[t] = __syncthreads_count(x[t] > 20);""",
    "else": """if (t >= n) { y[t] = -1; return; } else {
      int a = __syncthreads_count(x[t] > 20); y[t] = a; }""",
    "loop": """if (t >= n) { y[t] = -1; return; }
      int r = 0; for (int i = 0;; ++i) { bool more = x[t] > i * 30;
        if (!__syncthreads_or(more)) break; r += __syncthreads_count(more); }
      y[t] = r;""",
    "shared": """__shared__ int s[64]; if (t >= n) { y[t] = -1; return; }
      s[t] = x[t]; __syncthreads(); y[t] = s[n - 1 - t];""",
    "helper": """if (t >= n) { put(y, t, -1); return; }
      int a = __syncthreads_count(x[t] > 20); put(y, t, a);""",
    "macro": """if (t >= n) { PUT(t, -1); return; }
      int a = __syncthreads_count(x[t] > 20); PUT(t, a);""",
    "lambda": """auto put = [&](int v) { y[t] = v; }; if (t >= n) { put(-1); return; }
      int a = __syncthreads_count(x[t] > 20); put(a);""",
    "atomic": """if (t >= n) { atomicAdd(y + t, 1); return; }
      int a = __syncthreads_count(x[t] > 20); atomicAdd(y + t, a);""",
    "warp": """if (t >= n) { y[t] = 0; return; }
      int v = x[t]; while (__any_sync(~0u, v > 3)) v /= 2; y[t] = v;""",
}
BUGS = {
    "skips": "if (t < n) __syncthreads(); y[t] = x[t];",
    "leaves": """int a = x[t];
      for (int i = 0; i <= t / n; ++i) __syncthreads(); y[t] = a;""",
    "returns": """y[t] = 0; if (t < n) { y[t] = x[t]; __syncthreads(); y[t] += 1; }
      y[t + 64] = y[t] * 2;""",
}


def check(body, rng, *, split):
    text = body if split else " ".join(body.split())
    head = "#define PUT(t, v) y[t] = (v)\n"
    head += "__device__ __forceinline__ void put(int* y, int t, int v) { y[t] = v; }\n"
    open_ = "__global__ void k(const int* x, int n, int* y) { int t = threadIdx.x; "
    out = jax.ShapeDtypeStruct((2 * N,), np.int32)
    kernel = rc.kernel(
        f"{head}{open_}{text} }}", out=out, launch=rc.LaunchConfig(1, N), fill=0
    )
    x = rng.integers(0, 100, N).astype(np.int32)
    with jax.default_device(jax.devices("cpu")[0]):
        plain = np.asarray(kernel(x, 50))
        with rc.checking():
            np.testing.assert_array_equal(kernel(x, 50), plain)


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("name", BODIES)
def test_early_returns_beside_barriers_pass(rng, name, split):
    body = BODIES[name]
    check(body.replace(";", ";\n") if split else body, rng, split=split)


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("name", BUGS)
def test_barriers_that_threads_skip_are_found(rng, name, split):
    body = BUGS[name]
    with pytest.raises(rc.CheckError, match="divergent __syncthreads"):
        check(body.replace(";", ";\n") if split else body, rng, split=split)
