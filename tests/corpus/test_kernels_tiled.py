"""Sorting, convolution, attention, products and filters by tiles in shared memory.

Values on the CPU and on a CUDA device alike; every reference is NumPy's, in double
precision.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.corpus import SIZES, doubled, kernel, one_block_per_row, run

import jax_rawcuda as rc


@pytest.mark.parametrize("cols", [1, 2, 31, 256, 1025])
@pytest.mark.parametrize("dtype", ["int32", "float32", "uint8"])
def test_bitonic_sort(device, rng, dtype, cols):
    sort = kernel(
        "sort.cu",
        "sort_rows",
        shapes="rows cols -> rows cols",
        template=lambda x: (x.dtype,),
        launch=lambda x: rc.LaunchConfig(
            grid=x.shape[0], block=128, shared_mem_bytes=x.dtype.itemsize * x.shape[1]
        ),
    )
    x = rng.integers(0, 256, (3, cols)).astype(dtype)
    np.testing.assert_array_equal(run(sort, device, x), np.sort(x, axis=1))


@pytest.mark.parametrize("cols", SIZES)
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_exclusive_scan(device, rng, x64, dtype, cols):
    scan = kernel(
        "scan.cu",
        "exclusive_scan",
        shapes="rows cols -> rows cols",
        template=lambda x: (x.dtype, 256),
        launch=one_block_per_row(128),
    )
    x = rng.integers(-1000, 1000, (3, cols)).astype(dtype)
    np.testing.assert_array_equal(run(scan, device, x), np.cumsum(x, axis=1) - x)


@pytest.mark.parametrize("size", [1, 3, 5])
@pytest.mark.parametrize(("h", "w"), [(1, 1), (16, 48), (37, 21)])
def test_convolution(device, rng, size, h, w):
    outputs = 4
    convolve = kernel(
        "conv2d.cu",
        "conv2d",
        shapes="channels h w, o channels k k -> o h w",
        template=(size, outputs),
        launch=lambda x, _: rc.LaunchConfig(
            grid=(-(-x.shape[2] // 16), -(-x.shape[1] // 16)), block=(16, 16)
        ),
    )
    x = rng.standard_normal((3, h, w), np.float32)
    weights = rng.standard_normal((outputs, 3, size, size), np.float32)
    exact, filters = doubled(x, weights)
    margin = size // 2
    padded = np.pad(exact, ((0, 0), (margin, margin), (margin, margin)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (1, 2))
    want = np.einsum("chwij,ocij->ohw", windows, filters)
    np.testing.assert_allclose(run(convolve, device, x, weights), want, atol=2e-5)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n", [1, 33, 96, 129])
def test_attention(device, rng, n, causal):
    dim = 32
    attention = kernel(
        "attention.cu",
        "attention",
        shapes=f"heads n {dim}, heads n {dim}, heads n {dim} -> heads n {dim}",
        template=(16, dim),
        launch=lambda q, *_: rc.LaunchConfig(
            grid=(-(-q.shape[1] // 64), q.shape[0]), block=64
        ),
    )
    q, k, v = rng.standard_normal((3, 2, n, dim), np.float32)
    scale = dim**-0.5
    got = run(
        lambda q, k, v: attention(q, k, v, scale=scale, causal=causal), device, q, k, v
    )
    q, k, v = doubled(q, k, v)
    scores = scale * q @ k.transpose(0, 2, 1)
    if causal:
        scores[:, ~np.tri(n, dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    want = weights @ v / weights.sum(-1, keepdims=True)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("m", "n", "k"), [(1, 4, 4), (64, 64, 64), (33, 36, 12), (100, 68, 132)]
)
def test_product_in_registers(device, rng, m, n, k):
    sgemm = kernel(
        "sgemm.cu",
        "sgemm",
        shapes="m k, k n -> m n",
        template=(32, 64, 8, 4, 8),
        launch=lambda a, b: rc.LaunchConfig(
            grid=(-(-b.shape[1] // 64), -(-a.shape[0] // 32)), block=64
        ),
    )
    a = rng.standard_normal((m, k), np.float32)
    b = rng.standard_normal((k, n), np.float32)
    exact_a, exact_b = doubled(a, b)
    got = run(sgemm, device, a, b)
    np.testing.assert_allclose(got, exact_a @ exact_b, rtol=1e-5, atol=5e-5)


@pytest.mark.parametrize(("h", "w"), [(1, 1), (2, 3), (8, 32), (45, 70)])
def test_filter_of_bytes(device, rng, h, w):
    blur = kernel(
        "blur.cu",
        "blur",
        shapes="planes h w -> planes h w",
        threads=("w", "h", "planes"),
        block=(32, 8),
    )
    x = rng.integers(0, 256, (3, h, w)).astype(np.uint8)
    padded = np.pad(x.astype(int), ((0, 0), (2, 2), (2, 2)), mode="edge")
    taps = [1, 4, 6, 4, 1]
    sums = sum(
        taps[i] * taps[j] * padded[:, i : i + h, j : j + w]
        for i in range(5)
        for j in range(5)
    )
    np.testing.assert_array_equal(run(blur, device, x), (sums + 128) // 256)
