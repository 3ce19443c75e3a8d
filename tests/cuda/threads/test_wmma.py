"""nvcuda::wmma in every shape and type that has fragments."""

from __future__ import annotations

import jax
import ml_dtypes
import numpy as np
import pytest
from support.launching import launch

import jax_rawcuda as rc

TYPES = {
    "__half": np.float16,
    "__nv_bfloat16": ml_dtypes.bfloat16,
    "precision::tf32": np.float32,
    "float": np.float32,
    "double": np.float64,
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "int": np.int32,
}
WIDE = [(16, 16, 16), (32, 8, 16), (8, 32, 16)]
CASES = [
    *((s, "__half", c) for s in WIDE for c in ("float", "__half")),
    *((s, "__nv_bfloat16", "float") for s in WIDE),
    *((s, t, "int") for s in WIDE for t in ("signed char", "unsigned char")),
    ((16, 16, 8), "precision::tf32", "float"),
    ((8, 8, 4), "double", "double"),
]
SOURCE = """
#include <mma.h>
using namespace nvcuda::wmma;
// Rows and columns in memory have at least 16 bytes.
__device__ constexpr int apart(int n) {
  return n < 16 / (int)sizeof(ELEMENT) ? 16 / (int)sizeof(ELEMENT) : n;
}
template <class Left, class Right>
__device__ void product(const ELEMENT* a, const ELEMENT* b, SUM* c, int a_stride,
                        int b_stride) {
  fragment<matrix_a, M, N, K, KIND, Left> left;
  fragment<matrix_b, M, N, K, KIND, Right> right;
  fragment<accumulator, M, N, K, SUM> sum;
  load_matrix_sync(sum, c, N, mem_row_major);
  load_matrix_sync(left, a, a_stride);
  load_matrix_sync(right, b, b_stride);
  mma_sync(sum, left, right, sum);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] + sum.x[i];
  __syncwarp();
  store_matrix_sync(c, sum, M, mem_col_major);
}
extern "C" __global__ void row_row(const ELEMENT* a, const ELEMENT* b, SUM* c) {
  product<row_major, row_major>(a, b, c, apart(K), apart(N));
}
extern "C" __global__ void row_col(const ELEMENT* a, const ELEMENT* b, SUM* c) {
  product<row_major, col_major>(a, b, c, apart(K), apart(K));
}
extern "C" __global__ void col_row(const ELEMENT* a, const ELEMENT* b, SUM* c) {
  product<col_major, row_major>(a, b, c, apart(M), apart(N));
}
"""


def stored(matrix, layout, kind):
    """A matrix as it lies in memory, rows of at least 16 bytes."""
    rows = (matrix if layout == "row" else matrix.T).astype(TYPES[kind])
    missing = 16 // rows.itemsize - rows.shape[1]
    return np.pad(rows, ((0, 0), (0, max(missing, 0))))


@pytest.mark.parametrize(
    ("a_layout", "b_layout"), [("row", "row"), ("row", "col"), ("col", "row")]
)
@pytest.mark.parametrize(("shape", "kind", "total"), CASES)
def test_product(device, rng, shape, kind, total, a_layout, b_layout):
    m, n, k = shape
    low = 0 if kind.startswith("unsigned") else -8
    # Small whole numbers: every type and order of additions is exact.
    a, b, c = (
        rng.integers(low, 9, extents).astype(np.int64)
        for extents in ((m, k), (k, n), (m, n))
    )
    element = "float" if kind == "precision::tf32" else kind
    names = {"ELEMENT": element, "KIND": kind, "SUM": total, "M": m, "N": n, "K": k}
    got = launch(
        device,
        SOURCE,
        f"{a_layout}_{b_layout}",
        stored(a, a_layout, kind),
        stored(b, b_layout, kind),
        c.astype(TYPES[total]),
        in_out=("c",),
        options=rc.NvrtcOptions(defines=names),
    )
    want = (2 * (a @ b + c)).T.ravel()
    np.testing.assert_array_equal(got.ravel().astype(np.int64), want)


PUBLIC = """
#include <mma.h>
using namespace nvcuda::wmma;
__global__ void multiply(const __half* a, const __half* b, float* c, float scale) {
  fragment<matrix_a, 16, 16, 16, __half, row_major> left;
  fragment<matrix_b, 16, 16, 16, __half, col_major> right;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 1.0f);
  load_matrix_sync(left, a, 16);
  load_matrix_sync(right, b, 16);
  mma_sync(sum, left, right, sum);
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] *= scale;
  store_matrix_sync(c, sum, 16, mem_row_major);
}"""


def test_on_every_platform(device, rng):
    multiply = rc.kernel(PUBLIC, shapes="16 16, 16 16 -> 16 16", threads=32, block=32)
    a, b = (rng.standard_normal((16, 16)).astype(np.float16) for _ in range(2))
    got = jax.jit(lambda a, b: multiply(a, b, 0.5))(
        *(jax.device_put(x, device) for x in (a, b))
    )
    want = 0.5 * (1 + a.astype(np.float64) @ b.astype(np.float64).T)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)
