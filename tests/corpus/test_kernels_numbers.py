"""Number formats, and small simulations.

Values on the CPU and on a CUDA device alike; every reference is NumPy's, in double
precision.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pytest
from support.corpus import doubled, kernel, run


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
