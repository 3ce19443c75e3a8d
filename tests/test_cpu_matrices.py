"""Matrix instructions of PTX, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from _cpu_runner import run

pytest.importorskip("llvmlite")
RANDOM = np.random.default_rng(0)


def halves(*shape):
    return RANDOM.integers(-8, 9, shape).astype(np.float16)


@pytest.mark.parametrize("a_layout", ["row", "col"])
@pytest.mark.parametrize("b_layout", ["row", "col"])
def test_wmma(a_layout, b_layout):
    a, b = halves(16, 16), halves(16, 16)
    c = RANDOM.integers(-9, 9, (16, 16)).astype(np.float32)
    eight = {
        letter: "{" + ", ".join(f"{letter}{i}" for i in range(8)) + "}"
        for letter in "abcd"
    }
    lines = [
        ".reg .b32 a<8>, b<8>;",
        ".reg .f32 c<8>, d<8>;",
        f"wmma.load.a.sync.aligned.{a_layout}.m16n16k16.f16 {eight['a']}, [%0], %3;",
        f"wmma.load.b.sync.aligned.{b_layout}.m16n16k16.f16 {eight['b']}, [%1], %3;",
        f"wmma.load.c.sync.aligned.row.m16n16k16.f32 {eight['c']}, [%2], %3;",
        f"wmma.mma.sync.aligned.{a_layout}.{b_layout}.m16n16k16.f32.f32 "
        f"{eight['d']}, {eight['a']}, {eight['b']}, {eight['c']};",
        f"wmma.store.d.sync.aligned.col.m16n16k16.f32 [%4], {eight['d']}, %3;",
    ]
    body = "\\n".join(lines)
    *_, out = run(
        f"""(unsigned short* a, unsigned short* b, float* c, float* out) {{
          asm volatile("{{{body}}}" :: "l"(a), "l"(b), "l"(c), "r"(16), "l"(out)
                       : "memory");
        }}""",
        (a if a_layout == "row" else a.T.copy()).view(np.uint16),
        (b if b_layout == "row" else b.T.copy()).view(np.uint16),
        c,
        np.zeros((16, 16), np.float32),
    )
    expected = a.astype(np.float32) @ b.astype(np.float32) + c
    np.testing.assert_array_equal(out.T, expected)


def test_ldmatrix_and_mma():
    """A (16x16, rows) and B (16x8, columns) come from shared memory."""
    a, b = halves(16, 16), halves(16, 8)
    *_, out = run(
        """(const unsigned short* a, const unsigned short* b, float* out) {
          __shared__ __align__(16) unsigned short sa[256], sb[128];
          int t = threadIdx.x;
          for (int i = t; i < 256; i += 32) sa[i] = a[i];
          for (int i = t; i < 128; i += 32) sb[i] = b[i];
          __syncwarp();
          const unsigned short* row = &sa[t % 16 * 16 + t / 16 * 8];
          unsigned pa = (unsigned)__cvta_generic_to_shared(row);
          unsigned pb = (unsigned)__cvta_generic_to_shared(&sb[t % 16 * 8]);
          unsigned x[4], y[2];
          asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
              : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(pa));
          asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
              : "=r"(y[0]), "=r"(y[1]) : "r"(pb));
          float d[4] = {0, 0, 0, 0};
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
              "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
              : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
              : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
          for (int i = 0; i < 4; i++)
            out[(t / 4 + i / 2 * 8) * 8 + t % 4 * 2 + i % 2] = d[i];
        }""",
        a.view(np.uint16),
        b.view(np.uint16),
        np.zeros((16, 8), np.float32),
    )
    np.testing.assert_array_equal(out, a.astype(np.float32) @ b.astype(np.float32))
