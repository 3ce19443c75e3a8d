"""Functions, memory and control flow of CUDA C++."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from support.launching import launch, launcher

import jax_rawcuda as rc

BLOCK, BLOCKS = 128, 2
N = BLOCK * BLOCKS

run = launcher("language.cu", grid=BLOCKS, block=BLOCK)


@pytest.fixture
def x(rng):
    return rng.integers(0, 12, N).astype(np.int32)


def test_recursion_function_tables_and_virtual_functions(device, x):
    recursion, table, area, total = run(
        device, "calls", x, out=[(N, "i4")] + [(N, "f4")] * 3
    )
    numbers = [0, 1]
    while len(numbers) < 12:
        numbers.append(numbers[-1] + numbers[-2])
    np.testing.assert_array_equal(recursion, np.array(numbers)[x])
    np.testing.assert_array_equal(table, np.where(x % 2, 2 * x, x + 1))
    np.testing.assert_array_equal(area, np.where(x % 3, x * x, 3 * x * x))
    np.testing.assert_array_equal(total, (x + 1) + 2 * x + (x - 3))


@pytest.mark.parametrize("n", [1, 17])
def test_new_delete_malloc_and_free(device, x, n):
    total, multiples = run(device, "heap", x, n, out=[(N, "i4")] * 2)
    np.testing.assert_array_equal(total, n * x + n * (n - 1) // 2)
    np.testing.assert_array_equal(multiples, x * (n * (n - 1) // 2))


def test_switch(device, rng):
    op = rng.integers(0, 10, N).astype(np.int32)
    v = rng.standard_normal(N).astype(np.float32)
    y, counts = run(
        device, "jumps", op, v, np.zeros(9, np.int32),
        out=[(N, "f4")], in_out=("counts",),
    )  # fmt: skip
    cases = [v + 1, v * 2, -v, v * v, v - 3, v / 2, np.abs(v), v * v * v]
    cases += [np.full(N, 7.0), np.zeros(N)]
    want = np.choose(op, [c.astype(np.float64) for c in cases])
    np.testing.assert_allclose(y, want, rtol=1e-6)
    index = np.arange(N)
    often = np.bincount(op, minlength=10)
    bits = np.bitwise_or.reduce(1 << (index[op == 8] & 7))
    want = [often[0], 2 * often[1], 0, -often[3], 5 * often[4], 0]
    want += [index[op == 6].max(), 0, bits]
    np.testing.assert_array_equal(counts, want)


def test_branches_through_a_table(device, rng):
    op = rng.integers(0, 3, N).astype(np.int32)
    y = run(device, "jump_table", op, out=[(N, "i4")])
    np.testing.assert_array_equal(y, op * 10 + 10)


def test_templates_lambdas_and_constant_expressions(device, x):
    folded, total, bound = run(
        device, "modern", x, out=[(N, "i4"), (N, "f8"), (N, "i4")]
    )
    np.testing.assert_array_equal(folded, 6 * math.factorial(4) + 3 * x)
    np.testing.assert_array_equal(total, (x + 1) / 2 + 1)
    np.testing.assert_array_equal(bound, np.minimum(x, 3) * 100 + np.maximum(x, 3))


@pytest.mark.parametrize(
    ("type_name", "value", "exponent"),
    [("Squared", b"\0", 2), ("Power", struct.pack("<i", 3), 3)],
)
@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_function_objects(device, rng, dtype, type_name, value, exponent):
    x = rng.integers(-9, 10, 250).astype(dtype)
    got = launch(
        device, "language.cu", "mapped", x, x.size, rc.KernelArg.scalar(value),
        out=[(x.size, dtype)], grid=2, block=32, template=(dtype, 4, type_name),
    )  # fmt: skip
    np.testing.assert_array_equal(got, x**exponent + np.arange(x.size) % 4)


def test_concepts(device, x):
    source = """
    template <typename T> concept Number = requires(T a) { a + a; a * a; };
    template <Number T> __global__ void square(const T* x, T* y) {
      y[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x];
    }
    """
    got = launch(
        device, source, "square", x[:32], out=[(32, np.int32)], template=(np.int32,),
        options=rc.NvrtcOptions(std="c++20"),
    )  # fmt: skip
    np.testing.assert_array_equal(got, x[:32] ** 2)


def test_constants_and_variables_of_the_module(device, rng):
    v = rng.standard_normal(N).astype(np.float32)
    got = run(device, "constants", v, out=[(N, "f4")])
    polynomial = np.polyval(np.roll([1.0, -2.0, 0.5, 3.0], -2), v.astype(np.float64))
    want = polynomial + np.array([10, 20, 30, 40])[np.arange(N) & 3]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_launch_bounds_and_grid_constants(device, rng):
    v = rng.standard_normal(N).astype(np.float32)
    parameters = rc.KernelArg.scalar(struct.pack("<fi4f", 2.5, 3, 1, 2, 3, 4))
    got = run(device, "bounded", v, parameters, out=[(N, "f4")])
    want = 2.5 * v.astype(np.float64) + 3 + (1 + (np.arange(N) & 3))
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)


def test_local_arrays_with_computed_indices(device, rng):
    index = rng.integers(0, 1000, N).astype(np.int32)
    got = run(device, "local_arrays", index, out=[(N, "i4")])
    kept, sums = [], []
    for i, start in enumerate(index.tolist()):
        a = [k * k + i for k in range(32)]
        for k in range(32):
            j = (start + k * 7) & 31
            a[j], a[k] = a[k], a[j]
        kept.append(a[start & 31])
        sums.append(sum(v * (k + 1) for k, v in enumerate(a)))
    mirrored = np.reshape(kept, (BLOCKS, BLOCK))[:, ::-1].ravel()
    np.testing.assert_array_equal(got, np.array(sums) + mirrored)


def test_clocks_cache_hints_and_machine_registers(device, x):
    y, ticks = run(device, "machine", x, out=[(N, "i4"), (N, "i8")])
    np.testing.assert_array_equal(y, 6 * x + np.arange(N) % 32 * 1000)
    np.testing.assert_array_equal(ticks, np.ones(N))
