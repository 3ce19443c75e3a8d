"""Reductions, scans and histograms: shuffles, barriers, atomics.

Values on the CPU and on a CUDA device alike; every reference is NumPy's, in double
precision.
"""

from __future__ import annotations

import jax
import numpy as np
import pytest
from support.corpus import SIZES, doubled, kernel, one_block_per_row, run

import jax_rawcuda as rc


@pytest.mark.parametrize("n", SIZES)
def test_block_sum(device, rng, n):
    block_sum = kernel(
        "reduce.cu", "block_sum", shapes="n -> (n + 255)//256", threads="n", block=256
    )
    x = rng.standard_normal(n, np.float32)
    padded = np.zeros(-(-n // 256) * 256)
    padded[:n] = x
    want = padded.reshape(-1, 256).sum(1)
    np.testing.assert_allclose(run(block_sum, device, x), want, atol=2e-5)


@pytest.mark.parametrize("block", [32, 96, 1024])
@pytest.mark.parametrize("n", SIZES)
def test_warp_shuffle_sum(device, rng, n, block):
    shuffle_sum = kernel(
        "reduce.cu",
        "shuffle_sum",
        shapes="n, 1",
        in_out="total",
        launch=lambda *_: rc.LaunchConfig(grid=2, block=block),
    )
    x = rng.standard_normal(n, np.float32)
    got = run(shuffle_sum, device, x, np.float32([7]))
    np.testing.assert_allclose(got, [7 + x.astype(np.float64).sum()], atol=1e-4)


@pytest.mark.parametrize("block", [64, 256])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_template_of_type_and_block_size(device, rng, x64, dtype, block):
    total = kernel(
        "reduce.cu",
        "sum_template",
        out=lambda x, n: jax.ShapeDtypeStruct((-(-n // block),), x.dtype),
        template=lambda x, _: (x.dtype, block),
        launch=lambda _, n: rc.LaunchConfig.flat(n, block),
    )
    x = rng.integers(-100, 100, 1025).astype(dtype)
    got = run(lambda x: total(x, 1025), device, x)
    assert got.dtype == x.dtype
    padded = np.pad(x, (0, -x.size % block))
    np.testing.assert_array_equal(got, padded.reshape(-1, block).sum(1))


@pytest.mark.parametrize("cols", SIZES)
@pytest.mark.parametrize("dtype", ["int32", "float32", "int64"])
def test_inclusive_scan(device, rng, x64, dtype, cols):
    scan = kernel(
        "scan.cu",
        "inclusive_scan",
        shapes="rows cols -> rows cols",
        template=lambda x: (x.dtype,),
        launch=one_block_per_row(96),
    )
    x = rng.integers(-1000, 1000, (3, cols)).astype(dtype)
    # Integers below 2**24: exact in float as well.
    np.testing.assert_array_equal(run(scan, device, x), np.cumsum(x, axis=1))


@pytest.mark.parametrize("cols", SIZES)
def test_softmax(device, rng, cols):
    softmax = kernel(
        "rows.cu",
        "softmax",
        shapes="rows cols -> rows cols",
        launch=one_block_per_row(128),
    )
    x = 5 * rng.standard_normal((3, cols), np.float32)
    (exact,) = doubled(x)
    want = np.exp(exact - exact.max(1, keepdims=True))
    want /= want.sum(1, keepdims=True)
    np.testing.assert_allclose(run(softmax, device, x), want, rtol=2e-6, atol=1e-12)


@pytest.mark.parametrize("cols", SIZES[1:])
def test_layernorm(device, rng, cols):
    layernorm = kernel(
        "rows.cu",
        "layernorm",
        shapes="rows cols, cols, cols -> rows cols",
        launch=one_block_per_row(64),
    )
    x = 3 + 2 * rng.standard_normal((5, cols), np.float32)
    scale, shift = rng.standard_normal((2, cols), np.float32)
    exact, a, b = doubled(x, scale, shift)
    centred = exact - exact.mean(1, keepdims=True)
    want = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * a + b
    got = run(lambda *xs: layernorm(*xs, 1e-5), device, x, scale, shift)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
@pytest.mark.parametrize("n", SIZES)
def test_weighted_histogram(device, rng, x64, dtype, n):
    histogram = kernel(
        "histogram.cu",
        "weighted",
        shapes="n, n, bins",
        in_out="total",
        template=lambda _bin, weight, _total: (weight.dtype,),
        threads="n",
        block=128,
    )
    bins = rng.integers(0, 10, n).astype(np.int32)
    weight = rng.integers(-9, 9, n).astype(dtype)
    start = rng.integers(-9, 9, 10).astype(dtype)
    want = start + np.bincount(bins, weight, 10)
    # Integers: the order of the additions does not matter.
    np.testing.assert_array_equal(run(histogram, device, bins, weight, start), want)


@pytest.mark.parametrize("n", [1, 1025, 20_000])
def test_histogram_in_shared_memory(device, rng, n):
    count = kernel(
        "histogram.cu",
        "count",
        shapes="n, 64",
        in_out=("total",),
        launch=lambda *_: rc.LaunchConfig(grid=4, block=96),
    )
    bins = rng.integers(0, 64, n).astype(np.int32)
    got = run(count, device, bins, np.arange(64, dtype=np.int32))
    np.testing.assert_array_equal(got, np.arange(64) + np.bincount(bins, minlength=64))
