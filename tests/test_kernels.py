"""Values of a corpus of CUDA kernels, on the CPU and on a CUDA device alike.

The sources are in `kernels/`. Every reference is NumPy's, in double precision.
"""

from __future__ import annotations

import math
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc

KERNELS = Path(__file__).parent / "kernels"
SIZES = [1, 31, 33, 1023, 1025]


@pytest.fixture(params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request):
    return jax.devices(request.param)[0]


@pytest.fixture
def x64():
    with jax.enable_x64(True):
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(20111112)


def kernel(file, name, **contract):
    return rc.kernel(KERNELS / file, name, **contract)


def run(function, device, *arrays):
    """Calls jitted `function` on `device`; returns NumPy arrays."""
    results = jax.jit(function)(*(jax.device_put(a, device) for a in arrays))
    for result in jax.tree.leaves(results):
        assert result.devices() == {device}
    return jax.tree.map(np.asarray, results)


def one_block_per_row(block):
    return lambda x, *_: rc.LaunchConfig(grid=x.shape[0], block=block)


def doubled(*arrays):
    return tuple(a.astype(np.float64) for a in arrays)


# Streaming


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


# Reductions, shuffles, scans


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


# Atomics


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


# Dynamic shared memory, structs, matrices


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


# Number formats


def test_single_precision_math(device, rng):
    math_kernel = kernel(
        "math.cu",
        "math",
        shapes="n, n -> n, n, n, n, n",
        threads="n",
        block=128,
    )
    x = rng.uniform(-12, 12, 5000).astype(np.float32)
    y = np.exp(rng.uniform(-5, 5, 5000)).astype(np.float32)
    xx, yy = doubled(x, y)
    want = {
        "expf": np.exp(xx),
        "sinf": np.sin(xx),
        "powf": yy**xx,
        "erff": np.vectorize(math.erf)(xx),
        "rsqrtf": 1 / np.sqrt(yy),
    }
    # Maximum difference to the correctly rounded result, in units of the last place, as
    # tabulated in the CUDA programming guide ("Mathematical functions").
    bounds = {"expf": 2, "sinf": 2, "powf": 4, "erff": 2, "rsqrtf": 2}
    got = run(math_kernel, device, x, y)
    for (name, exact), result in zip(want.items(), got, strict=True):
        np.testing.assert_array_max_ulp(
            result, exact.astype(np.float32), maxulp=bounds[name]
        )


def test_half2(device, rng):
    half2 = kernel(
        "half.cu", "half2_axpy", shapes="n, n -> n, n", threads="n", block=64
    )
    x, y = rng.standard_normal((2, 1026)).astype(np.float16)
    got_sum, got_product = run(lambda x, y: half2(x, y, pairs=513), device, x, y)
    xx, yy = doubled(x, y)
    np.testing.assert_array_equal(got_sum, (xx + yy).astype(np.float16))
    np.testing.assert_array_equal(got_product, (xx * yy).astype(np.float16))


def test_bfloat16(device, rng):
    scale_kernel = kernel(
        "half.cu", "bfloat16_scale", shapes="n, n -> n, n", threads="n", block=64
    )
    x = rng.standard_normal(1025).astype(jnp.bfloat16)
    scale = rng.standard_normal(1025, np.float32)
    got_scaled, got_doubled = run(scale_kernel, device, x, scale)
    single = x.astype(np.float32)
    np.testing.assert_array_equal(got_scaled, (single * scale).astype(jnp.bfloat16))
    np.testing.assert_array_equal(got_doubled, (single + single).astype(jnp.bfloat16))


def test_kahan_sum(device, rng, x64):
    kahan = kernel(
        "kahan.cu", "kahan_rows", shapes="rows cols -> rows", threads="rows", block=32
    )
    x = np.full((5, 4096), 1e-16) * rng.uniform(0.5, 1, (5, 4096))
    x[:, 0] = [1, 2, 0.5, 1, 1]  # the rest is lost one by one, and counts together
    want = np.array([math.fsum(row) for row in x])
    assert np.all(want != x[:, 0])
    np.testing.assert_array_max_ulp(run(kahan, device, x), want, maxulp=1)


def test_64_bit_integers(device, rng, x64):
    ops = kernel(
        "int64.cu", "int64_ops", shapes="n, n -> n, n, n, n", threads="n", block=64
    )
    a = rng.integers(-(2**63), 2**63 - 1, 501, endpoint=True)
    b = rng.integers(1, 2**40, 501) * rng.choice([-1, 1], 501)
    quotient, remainder, high, mixed = run(ops, device, a, b)
    rows = list(zip(a.tolist(), b.tolist(), strict=True))
    # C rounds towards zero, Python towards minus infinity.
    want = [abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1) for p, q in rows]
    np.testing.assert_array_equal(quotient, want)
    np.testing.assert_array_equal(
        remainder, [p - s * q for (p, q), s in zip(rows, want, strict=True)]
    )
    np.testing.assert_array_equal(high, [(p * q) >> 64 for p, q in rows])
    mask = 2**64 - 1
    want = []
    for p, q in rows:
        bits = p & mask
        leading = 64 - (q & mask).bit_length()
        rotated = (bits << 7 | bits >> 57) & mask
        want.append((rotated + bits.bit_count() + 64 * leading) & mask)
    np.testing.assert_array_equal(mixed, np.array(want, np.uint64))


# Small simulations


@pytest.mark.parametrize("n", [1, 33, 200])
def test_nbody_step(device, rng, n):
    step = kernel(
        "nbody.cu",
        "nbody_step",
        shapes="n 4, n 4 -> n 4, n 4",
        threads="n",
        block=64,
        shared_mem_bytes=64 * 16,
    )
    position = rng.standard_normal((n, 4), np.float32)
    position[:, 3] = np.abs(position[:, 3])
    velocity = rng.standard_normal((n, 4), np.float32)
    moved, kicked = run(
        lambda p, v: step(p, v, dt=0.01, softening=0.1), device, position, velocity
    )
    p, v = doubled(position, velocity)
    apart = p[None, :, :3] - p[:, None, :3]
    cubed = ((apart**2).sum(-1) + 0.1) ** 1.5
    force = (apart * (p[None, :, 3] / cubed)[..., None]).sum(1)
    v[:, :3] += 0.01 * force
    p[:, :3] += 0.01 * v[:, :3]
    np.testing.assert_allclose(kicked, v, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(moved, p, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("h", "w"), [(1, 1), (33, 31), (48, 100)])
def test_mandelbrot(device, x64, h, w):
    mandelbrot = kernel(
        "mandelbrot.cu",
        "mandelbrot",
        shapes="w, h -> h w",
        threads=("w", "h"),
        block=(16, 8),
    )
    re, im = np.linspace(-2.2, 0.8, w), np.linspace(-1.3, 1.1, h)
    got = run(lambda re, im: mandelbrot(re, im, 60), device, re, im)
    a, b, steps = np.zeros((h, w)), np.zeros((h, w)), np.zeros((h, w), np.int32)
    inside = np.ones((h, w), bool)
    for _ in range(60):
        inside &= a * a + b * b < 4
        steps += inside
        a, b = (
            np.where(inside, a * a - b * b + re, a),
            np.where(inside, (a + a) * b + im[:, None], b),
        )
    np.testing.assert_array_equal(got, steps)


def philox_reference(counter, key):
    """Philox4x32-10 on u32[n, 4] counters, written from the paper's figure."""
    c = counter.astype(np.uint64)
    k0, k1 = (np.uint64(k) for k in key)
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p0 = np.uint64(0xD2511F53) * c[:, 0]
        p1 = np.uint64(0xCD9E8D57) * c[:, 2]
        shift = np.uint64(32)
        columns = [
            (p1 >> shift) ^ c[:, 1] ^ k0,
            p1 & low,
            (p0 >> shift) ^ c[:, 3] ^ k1,
            p0 & low,
        ]
        c = np.stack(columns, axis=1)
        k0 = (k0 + np.uint64(0x9E3779B9)) & low
        k1 = (k1 + np.uint64(0xBB67AE85)) & low
    return c.astype(np.uint32)


# The known-answer vectors published with the paper: counter, key, output.
PHILOX_ANSWERS = [
    (
        [0, 0, 0, 0],
        [0, 0],
        [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8],
    ),
    (
        [0xFFFFFFFF] * 4,
        [0xFFFFFFFF] * 2,
        [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD],
    ),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


@pytest.mark.parametrize(("counter", "key", "answer"), PHILOX_ANSWERS)
def test_philox(device, rng, counter, key, answer):
    philox = kernel("philox.cu", "philox", shapes="n 4 -> n 4", threads="n", block=128)
    counters = rng.integers(0, 2**32, (300, 4), dtype=np.uint32)
    counters[0] = counter
    got = run(lambda c: philox(c, *key), device, counters)
    np.testing.assert_array_equal(got[0], np.array(answer, np.uint32))
    np.testing.assert_array_equal(got, philox_reference(counters, key))
