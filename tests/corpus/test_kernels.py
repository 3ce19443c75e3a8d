"""Kernels that stream, and kernels that share memory within a block.

Values on the CPU and on a CUDA device alike; every reference is NumPy's, in double
precision.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from support.corpus import SIZES, doubled, kernel, run

import jax_rawcuda as rc


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32", "int8"])
def test_axpy(device, rng, dtype, n):
    axpy = kernel(
        "saxpy.cu",
        "axpy",
        shapes="n, n -> n",
        template=lambda x, *_: (x.dtype,),
        threads="n",
        block=128,
    )
    dtype = jnp.dtype(dtype)
    x, y = (rng.integers(-8, 8, n) / (1 if dtype.kind == "i" else 4) for _ in range(2))
    got = run(lambda x, y: axpy(x, y, 3), device, x.astype(dtype), y.astype(dtype))
    assert got.dtype == dtype
    # Small multiples of a quarter: exact in each of the types, fused or not.
    np.testing.assert_array_equal(got.astype(np.float64), 3 * x + y)


@pytest.mark.parametrize("n", SIZES)
def test_axpy_double(device, rng, x64, n):
    axpy = kernel(
        "saxpy.cu",
        "axpy",
        shapes="n, n -> n",
        template=lambda x, *_: (x.dtype,),
        threads="n",
        block=128,
    )
    x, y = rng.standard_normal((2, n))
    got = run(lambda x, y: axpy(x, y, 0.1), device, x, y)
    np.testing.assert_allclose(got, 0.1 * x + y, rtol=0, atol=1e-15)


@pytest.mark.parametrize("n", [*SIZES, 100_003])
def test_saxpy_with_a_grid_stride(device, rng, n):
    saxpy = kernel(
        "saxpy.cu",
        "saxpy_grid_stride",
        shapes="n, n -> n",
        launch=lambda *_: rc.LaunchConfig(grid=3, block=128),
    )
    x, y = rng.standard_normal((2, n), np.float32)
    got = run(lambda x, y: saxpy(x, y, 2.5), device, x, y)
    np.testing.assert_allclose(got, 2.5 * x + y, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "uint8", "bfloat16"])
@pytest.mark.parametrize("shape", [(1, 1), (31, 33), (64, 32), (100, 70), (5, 257)])
def test_transpose(device, rng, shape, dtype):
    transpose = kernel(
        "transpose.cu",
        "transpose",
        shapes="h w -> w h",
        template=lambda x: (x.dtype,),
        launch=lambda x: rc.LaunchConfig(
            grid=(-(-x.shape[1] // 32), -(-x.shape[0] // 32)), block=(32, 8)
        ),
    )
    x = rng.integers(0, 200, shape).astype(jnp.dtype(dtype))
    np.testing.assert_array_equal(run(transpose, device, x), x.T)


@pytest.mark.parametrize("shape", [(3, 3, 3), (1, 4, 5), (17, 9, 35)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_stencil(device, rng, x64, shape, dtype):
    heat = kernel(
        "stencil.cu",
        "heat",
        shapes="d h w -> d h w",
        template=lambda u, _: (u.dtype,),
        threads=("w", "h", "d"),
        block=(32, 4, 2),
    )
    u = rng.standard_normal(shape).astype(dtype)
    want = u.astype(np.float64)
    around = -6 * want[1:-1, 1:-1, 1:-1]
    for axis in range(3):
        inner = [slice(1, -1)] * 3
        for shift in (slice(0, -2), slice(2, None)):
            inner[axis] = shift
            around = around + want[tuple(inner)].astype(np.float64)
    want[1:-1, 1:-1, 1:-1] += 0.125 * around
    got = run(lambda u: heat(u, 0.125), device, u)
    np.testing.assert_allclose(got, want, rtol=0, atol=8 * np.finfo(dtype).eps)


def reverse_rows_through_shared_memory(device, rng, kilobytes):
    cols = kilobytes * 1024 // 4
    reverse = kernel(
        "dynamic_shared.cu",
        "reverse_rows",
        shapes="rows cols -> rows cols",
        launch=lambda x: rc.LaunchConfig(
            grid=x.shape[0], block=256, shared_mem_bytes=4 * x.shape[1]
        ),
    )
    x = rng.standard_normal((3, cols), np.float32)
    np.testing.assert_array_equal(run(reverse, device, x), x[:, ::-1])


@pytest.mark.parametrize("kilobytes", [1, 40, 48])
def test_dynamic_shared_memory(device, rng, kilobytes):
    reverse_rows_through_shared_memory(device, rng, kilobytes)


@pytest.mark.gpu
@pytest.mark.parametrize("device", ["gpu"], indirect=True)
@pytest.mark.parametrize("kilobytes", [49, 100, 227])
def test_dynamic_shared_memory_above_48_kilobytes(device, rng, kilobytes):
    reverse_rows_through_shared_memory(device, rng, kilobytes)


@pytest.mark.parametrize("n", [1, 33, 300])
def test_struct_by_value(device, rng, n):
    transform = kernel(
        "struct_by_value.cu", "transform", shapes="n 3 -> n 3", threads="n", block=128
    )
    affine = np.dtype(
        [("axes", "u1"), ("scale", "f8"), ("matrix", "f4", (3, 4)), ("count", "i4")],
        align=True,
    )
    assert affine.itemsize == 72
    matrix = rng.standard_normal((3, 4), np.float32)
    points = rng.standard_normal((n, 3), np.float32)
    value = np.array((3, 0.5, matrix, n), affine)[()]
    got = run(lambda p: transform(p, rc.KernelArg.scalar(value)), device, points)
    p, m = doubled(points, matrix)
    want = 0.5 * (p @ m[:, :3].T + m[:, 3])
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("m", "n", "k"), [(1, 1, 1), (16, 16, 16), (31, 33, 17), (64, 96, 80), (5, 130, 63)]
)
def test_matmul(device, rng, m, n, k):
    matmul = kernel(
        "matmul.cu",
        "matmul",
        shapes="m k, k n -> m n",
        threads=("n", "m"),
        block=(16, 16),
    )
    a = rng.standard_normal((m, k), np.float32)
    b = rng.standard_normal((k, n), np.float32)
    exact_a, exact_b = doubled(a, b)
    got = run(matmul, device, a, b)
    np.testing.assert_allclose(got, exact_a @ exact_b, rtol=1e-5, atol=2e-5)
