"""Rewritten kernels over a batch: equal to NumPy, element for element."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.rewriting import Result, Static, run

from jax_rawcuda._rewrite.adaptation import Adaptation

COUNT, SIZE = 7, 100

SAXPY = r"""
extern "C" __global__
void k(const float* x, const float* y, float a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}"""


def floats(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def test_pointers_and_a_scalar_differ_between_elements(device, rng):
    x, y, a = floats(rng, COUNT, SIZE), floats(rng, SIZE), floats(rng, COUNT)
    arguments = [x, y, a, Result((SIZE,)), Static("int", SIZE)]
    adaptation = Adaptation(1, (0, 2, 3), dynamic=(2,))
    got = run(device, SAXPY, "k", adaptation, arguments, sizes=(COUNT,), grid=(4, 1))
    np.testing.assert_allclose(got, a[:, None] * x + y, rtol=1e-6, atol=1e-6)


def test_a_batch_in_pieces(device, rng):
    x, y, a = floats(rng, COUNT, SIZE), floats(rng, COUNT, SIZE), floats(rng)
    arguments = [x, y, np.asarray(a), Result((SIZE,)), Static("int", SIZE)]
    got = run(
        device,
        SAXPY,
        "k",
        Adaptation(1, (0, 1, 3), dynamic=(2,)),
        arguments,
        sizes=(COUNT,),
        grid=(4, 1),
        pieces=(1, 5),
    )
    np.testing.assert_allclose(got, a * x + y, rtol=1e-6, atol=1e-6)


SUBSETS = list(itertools.product([(), (0,), (1,), (0, 1)], repeat=2))


@pytest.mark.parametrize(("x_lacks", "a_lacks"), SUBSETS)
def test_two_axes_of_which_each_parameter_has_some(device, rng, x_lacks, a_lacks):
    check_subset(device, rng, (3, 5), {0: x_lacks, 2: a_lacks}, pieces=(4,))


@pytest.mark.parametrize("seed", range(4))
def test_three_axes_of_which_each_parameter_has_some(device, seed):
    rng = np.random.default_rng(seed)
    axes = range(3)
    lacking = {i: tuple(a for a in axes if rng.random() < 0.5) for i in (0, 1, 2)}
    check_subset(device, rng, (2, 3, 4), lacking, pieces=(5, 17))


def check_subset(device, rng, sizes, lacking, pieces):
    def shape(index):
        lacks = lacking.get(index, ())
        return [size for axis, size in enumerate(sizes) if axis not in lacks]

    def spread(array, index):
        """The array with axes of size 1 for those that it lacks."""
        return np.expand_dims(array, lacking.get(index, ()))

    x, y = floats(rng, *shape(0), SIZE), floats(rng, *shape(1), SIZE)
    a = floats(rng, *shape(2))
    got = run(
        device,
        SAXPY,
        "k",
        Adaptation(len(sizes), (0, 1, 2, 3), dynamic=(2,)),
        [x, y, a, Result((SIZE,)), Static("int", SIZE)],
        sizes=sizes,
        grid=(4, 1),
        lacking=lacking,
        pieces=pieces,
    )
    want = spread(a, 2)[..., None] * spread(x, 0) + spread(y, 1)
    np.testing.assert_allclose(
        got, np.broadcast_to(want, got.shape), rtol=1e-6, atol=1e-6
    )


GRID_STRIDE = r"""
extern "C" __global__ void k(const float* x, float* out, int n) {
  int step = gridDim.x * gridDim.y * gridDim.z * blockDim.x;
  int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  for (int i = block * blockDim.x + threadIdx.x; i < n; i += step) out[i] = x[i] + step;
}"""


def test_a_grid_stride_covers_its_own_element(device, rng):
    x = floats(rng, COUNT, 1000)
    arguments = [x, Result((1000,)), Static("int", 1000)]
    got = run(
        device,
        GRID_STRIDE,
        "k",
        Adaptation(1, (0, 1)),
        arguments,
        sizes=(COUNT,),
        grid=(2, 2),
    )
    np.testing.assert_array_equal(got, x + np.float32(128))


VOLUME = r"""
__device__ __noinline__ int where() { return 1000 * gridDim.z + blockIdx.z; }
extern "C" __global__ void k(const float* x, float* out, int nx, int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y, k = blockIdx.z;
  int at = (k * ny + j) * nx + i;
  if (i < nx && k < nz) out[at] = x[at] + where() + 10 * (blockIdx.z + gridDim.z);
}"""


@pytest.mark.parametrize("depth", [1, 3])
def test_the_users_own_z(device, rng, depth):
    x = floats(rng, COUNT, depth, 5, 40)
    sizes = [Static("int", n) for n in (40, 5, depth)]
    got = run(
        device,
        VOLUME,
        "k",
        Adaptation(1, (0, 1), grid_z=depth),
        [x, Result((depth, 5, 40)), *sizes],
        sizes=(COUNT,),
        grid=(2, 5),
        pieces=(3,),
    )
    z = np.arange(depth, dtype=np.float32)[:, None, None]
    np.testing.assert_allclose(got, x + 1010 * depth + 11 * z, rtol=1e-6)


TILE = r"""
extern "C" __global__ void k(const float* x, float* out, int rows, int cols) {
  __shared__ float tile[16][17];
  int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
  if (i < cols && j < rows) tile[threadIdx.y][threadIdx.x] = x[j * cols + i];
  __syncthreads();
  i = blockIdx.y * 16 + threadIdx.x, j = blockIdx.x * 16 + threadIdx.y;
  if (i < rows && j < cols) out[j * rows + i] = tile[threadIdx.x][threadIdx.y];
}"""


def test_a_tile_in_shared_memory(device, rng):
    x = floats(rng, COUNT, 30, 45)
    got = run(
        device,
        TILE,
        "k",
        Adaptation(1, (0, 1)),
        [x, Result((45, 30)), Static("int", 30), Static("int", 45)],
        sizes=(COUNT,),
        grid=(3, 2),
        block=(16, 16),
    )
    np.testing.assert_array_equal(got, x.swapaxes(1, 2))


SCAN = r"""
#include <cub/block/block_scan.cuh>
extern "C" __global__ void k(const int* x, int* out, int n) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage storage;
  int i = threadIdx.x, value = i < n ? x[i] : 0;
  Scan(storage).InclusiveSum(value, value);
  if (i < n) out[i] = value;
}"""


def test_a_block_scan_of_cub(device, rng):
    x = rng.integers(-99, 99, (COUNT, SIZE), np.int32)
    arguments = [x, Result((SIZE,), "int32"), Static("int", SIZE)]
    adaptation = Adaptation(1, (0, 1))
    got = run(device, SCAN, "k", adaptation, arguments, sizes=(COUNT,), block=128)
    np.testing.assert_array_equal(got, np.cumsum(x, 1))


COUNTS = r"""
extern "C" __global__ void k(const int* x, int* counts, int n) {
  extern __shared__ int own[];
  if (threadIdx.x < 8) own[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&own[x[i] & 7], 1);
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}"""


def test_atomics_meet_only_in_their_element(device, rng):
    x = rng.integers(0, 8, (COUNT, SIZE), np.int32)
    got = run(
        device,
        COUNTS,
        "k",
        Adaptation(1, (0, 1)),
        [x, Result((8,), "int32"), Static("int", SIZE)],
        sizes=(COUNT,),
        grid=(4, 1),
        shared_mem_bytes=32,
    )
    np.testing.assert_array_equal(got, [np.bincount(row, minlength=8) for row in x])


PRINT = r"""
extern "C" __global__ void k(const float* x, float a, float* out) {
  int i = threadIdx.x;
  out[i] = a * x[i];
  if (i == 0) printf("%s %d %.2f\n", a > 0 ? "up" : "down", blockIdx.z, a);
}"""


def test_printf_reads_its_strings(device, rng, capfd):
    x, a = floats(rng, 3, 32), np.array([1.5, -2.0, 0.25], np.float32)
    adaptation = Adaptation(1, (0, 1, 2), dynamic=(1,))
    got = run(device, PRINT, "k", adaptation, [x, a, Result((32,))], sizes=(3,))
    np.testing.assert_array_equal(got, a[:, None] * x)
    lines = sorted(capfd.readouterr().out.split("\n"))
    assert lines == sorted(["", "up 0 1.50", "down 0 -2.00", "up 0 0.25"])


TABLE = r"""
__constant__ float factors[4] = {1, 2, 3, 4};
__device__ const int order[4] = {3, 1, 0, 2};
extern "C" __global__ void k(const float* x, float* out) {
  int i = threadIdx.x;
  out[i] = x[i] * factors[order[i % 4]];
}"""


def test_tables_travel_along(device, rng):
    x = floats(rng, COUNT, 32)
    adaptation = Adaptation(1, (0, 1))
    got = run(device, TABLE, "k", adaptation, [x, Result((32,))], sizes=(COUNT,))
    factors = np.array([1, 2, 3, 4], np.float32)[[3, 1, 0, 2]]
    np.testing.assert_array_equal(got, x * np.tile(factors, 8))
