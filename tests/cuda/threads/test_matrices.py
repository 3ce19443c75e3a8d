"""ldmatrix, stmatrix and wmma as instructions of PTX."""

from __future__ import annotations

import numpy as np
import pytest
from support.launching import launch

LANES = np.arange(32)


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("store", [False, True])
def test_rows_of_matrices(device, rng, count, trans, store):
    """A lane holds two neighbours of a row (a column, transposed) of each matrix.

    Lane 8 i + j gives the address of row j of matrix i, anywhere in shared memory.
    """
    registers = [f"r[{i}]" for i in range(count)]
    listed = ", ".join(f"%{i + store}" for i in range(count))
    shape = f"sync.aligned.m8n8.x{count}{trans}.shared.b16"
    if store:
        values = ", ".join(f'"r"({r})' for r in registers)
        text = f'"stmatrix.{shape} [%0], {{{listed}}};" :: "r"(row), {values}'
    else:
        values = ", ".join(f'"=r"({r})' for r in registers)
        text = f'"ldmatrix.{shape} {{{listed}}}, [%{count}];" : {values} : "r"(row)'
    source = f"""
    extern "C" __global__ void k(const int* place, const unsigned* x, unsigned* y) {{
      __shared__ __align__(16) unsigned rows[32][4];
      int t = threadIdx.x;
      unsigned r[{count}], row = __cvta_generic_to_shared(rows[place[t]]);
      for (int i = 0; i < 4; ++i) rows[t][i] = {"0" if store else "x[4 * t + i]"};
      for (int i = 0; i < {count}; ++i) r[i] = x[{count} * t + i];
      __syncwarp();
      asm volatile({text} : "memory");
      __syncwarp();
      for (int i = 0; i < 4; ++i)
        y[4 * t + i] = {"rows[t][i]" if store else f"i < {count} ? r[i] : 0"};
    }}"""
    place = rng.permutation(32).astype(np.int32)
    x = rng.integers(0, 2**32, 128, dtype=np.uint32)
    got = launch(device, source, "k", place, x, out=[((32, 4), np.uint32)])
    row, column = LANES // 4, LANES % 4 * 2
    first, second = (row, column), (row, column + 1)
    if trans:
        first, second = ((c, r) for r, c in (first, second))
    want = np.zeros((32, 8), np.uint16)
    if store:
        held = x.view(np.uint16)[: 64 * count].reshape(32, count, 2)
        for i in range(count):
            matrix = np.empty((8, 8), np.uint16)
            matrix[first], matrix[second] = held[:, i, 0], held[:, i, 1]
            want[place[8 * i : 8 * i + 8]] = matrix
    else:
        rows = x.view(np.uint16).reshape(32, 8)
        for i in range(count):
            matrix = rows[place[8 * i : 8 * i + 8]]
            want[:, 2 * i], want[:, 2 * i + 1] = matrix[first], matrix[second]
    np.testing.assert_array_equal(got, want.view(np.uint32))


FROM_SHARED = r"""
extern "C" __global__ void product(const unsigned short* a, const unsigned short* b,
                                   float* out) {
  __shared__ __align__(16) unsigned short left[256], right[128];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 32) left[i] = a[i];
  for (int i = t; i < 128; i += 32) right[i] = b[i];
  __syncwarp();
  unsigned x[4], y[2];
  unsigned at = __cvta_generic_to_shared(&left[t % 16 * 16 + t / 16 * 8]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(at));
  at = __cvta_generic_to_shared(&right[t % 16 * 8]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(y[0]), "=r"(y[1])
               : "r"(at));
  float d[4] = {0, 0, 0, 0};
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  for (int i = 0; i < 4; i++)
    out[(t / 4 + i / 2 * 8) * 8 + t % 4 * 2 + i % 2] = d[i];
}
"""


def halves(rng, *shape):
    return rng.integers(-8, 9, shape).astype(np.float16)


def test_a_product_out_of_shared_memory(device, rng):
    a, b = halves(rng, 16, 16), halves(rng, 16, 8)
    got = launch(
        device, FROM_SHARED, "product", a.view(np.uint16), b.view(np.uint16),
        out=[((16, 8), np.float32)],
    )  # fmt: skip
    np.testing.assert_array_equal(got, a.astype(np.float32) @ b.astype(np.float32))


def wmma(a_layout, b_layout):
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
    return f"""
    extern "C" __global__ void product(const unsigned short* a, const unsigned short* b,
                                       const float* c, float* d) {{
      asm volatile("{{{body}}}" :: "l"(a), "l"(b), "l"(c), "r"(16), "l"(d) : "memory");
    }}"""


@pytest.mark.parametrize("a_layout", ["row", "col"])
@pytest.mark.parametrize("b_layout", ["row", "col"])
def test_wmma(device, rng, a_layout, b_layout):
    a, b = halves(rng, 16, 16), halves(rng, 16, 16)
    c = rng.integers(-9, 9, (16, 16)).astype(np.float32)
    got = launch(
        device,
        wmma(a_layout, b_layout),
        "product",
        (a if a_layout == "row" else a.T.copy()).view(np.uint16),
        (b if b_layout == "row" else b.T.copy()).view(np.uint16),
        c,
        out=[((16, 16), np.float32)],
    )
    want = a.astype(np.float32) @ b.astype(np.float32) + c
    np.testing.assert_array_equal(got.T, want)
