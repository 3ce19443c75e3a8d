"""Scalars from memory beside static ones, and vmap beside kernels batched by hand.

    python benchmarks/dynamic.py            # on JAX's default device
    python benchmarks/dynamic.py --quick    # fewer rounds

Every program is checked against NumPy before it is timed. It repeats its call inside of
a loop, so that launches are measured, not Python.
"""

from __future__ import annotations

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np
from _timing import interleaved, machine, markdown

import jax_rawcuda as rc

SOURCE = r"""
#include <cub/block/block_scan.cuh>

// x: f32[n], y: f32[n] -> out: f32[n]
__device__ void axpy_(const float* x, const float* y, float a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}
extern "C" __global__ void axpy(const float* x, const float* y, float a, float* out,
                                int n) {
  axpy_(x, y, a, out, n);
}
extern "C" __global__ void axpy_rows(const float* x, const float* y, float a,
                                     float* out, int n) {
  size_t row = size_t(blockIdx.z) * n;
  axpy_(x + row, y + row, a, out + row, n);
}

// x: f32[n] -> out: f32[n]
__device__ void stride_(const float* x, float* out, int n) {
  int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
    out[i] = x[i] * x[i] + 1.0f;
}
extern "C" __global__ void stride(const float* x, float* out, int n) {
  stride_(x, out, n);
}
extern "C" __global__ void stride_rows(const float* x, float* out, int n) {
  size_t row = size_t(blockIdx.z) * n;
  stride_(x + row, out + row, n);
}

// x: f32[n] -> out: f32[]
__device__ void sum_(const float* x, float* out, int n) {
  __shared__ float part[256];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 256) s += x[i];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (threadIdx.x < w) part[threadIdx.x] += part[threadIdx.x + w];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = part[0];
}
extern "C" __global__ void sum(const float* x, float* out, int n) { sum_(x, out, n); }
extern "C" __global__ void sum_rows(const float* x, float* out, int n) {
  sum_(x + size_t(blockIdx.z) * n, out + blockIdx.z, n);
}

// x: f32[h, w] -> out: f32[w, h]
__device__ void transpose_(const float* x, float* out, int h, int w) {
  __shared__ float tile[16][17];
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (r < h && c < w) tile[threadIdx.y][threadIdx.x] = x[r * w + c];
  __syncthreads();
  c = blockIdx.y * 16 + threadIdx.x, r = blockIdx.x * 16 + threadIdx.y;
  if (r < w && c < h) out[r * h + c] = tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void transpose(const float* x, float* out, int h, int w) {
  transpose_(x, out, h, w);
}
extern "C" __global__ void transpose_rows(const float* x, float* out, int h, int w) {
  size_t row = size_t(blockIdx.z) * h * w;
  transpose_(x + row, out + row, h, w);
}

// x: f32[n] -> out: f32[n], n <= 512
__device__ void scan_(const float* x, float* out, int n) {
  using Scan = cub::BlockScan<float, 128>;
  __shared__ typename Scan::TempStorage storage;
  float items[4];
  for (int k = 0; k < 4; ++k) {
    int i = threadIdx.x * 4 + k;
    items[k] = i < n ? x[i] : 0.0f;
  }
  Scan(storage).InclusiveSum(items, items);
  for (int k = 0; k < 4; ++k) {
    int i = threadIdx.x * 4 + k;
    if (i < n) out[i] = items[k];
  }
}
extern "C" __global__ void scan(const float* x, float* out, int n) { scan_(x, out, n); }
extern "C" __global__ void scan_rows(const float* x, float* out, int n) {
  size_t row = size_t(blockIdx.z) * n;
  scan_(x + row, out + row, n);
}
"""
MODULE = rc.compile_nvrtc(SOURCE)
TILE = 16


def grid_of(n, block):
    return -(-n // block)


def one(name, block, grid):
    """Returns an op of one element x, launching kernel `name`."""
    function = MODULE.function(name)

    @rc.op(name=name)
    def run(s, x):
        out = s.alloc_output(() if name.startswith("sum") else x.shape, x.dtype)
        s.launch(function, rc.LaunchConfig(grid(x.size), block), x, out, x.size)
        return out

    return run


def rows(name, block, grid):
    """Returns an op of all elements at once, batched by hand along z."""
    function = MODULE.function(f"{name}_rows")

    @rc.op(name=f"{name} by hand")
    def run(s, x):
        batch, n = x.shape
        out = s.alloc_output((batch,) if name == "sum" else x.shape, x.dtype)
        config = rc.LaunchConfig((grid(n), 1, batch), block)
        s.launch(function, config, x, out, n)
        return out

    return run


@rc.op
def transpose(s, x):
    h, w = x.shape
    out = s.alloc_output((w, h), x.dtype)
    config = rc.LaunchConfig((grid_of(w, TILE), grid_of(h, TILE)), (TILE, TILE))
    s.launch(MODULE.function("transpose"), config, x, out, h, w)
    return out


@rc.op
def transpose_rows(s, x):
    batch, h, w = x.shape
    out = s.alloc_output((batch, w, h), x.dtype)
    grid = grid_of(w, TILE), grid_of(h, TILE), batch
    config = rc.LaunchConfig(grid, (TILE, TILE))
    s.launch(MODULE.function("transpose_rows"), config, x, out, h, w)
    return out


@rc.op
def three(s, x):
    """Three launches, over a workspace."""
    n = x.size
    between = s.alloc_bytes(4 * n)
    out = s.alloc_output(x.shape, x.dtype)
    flat = rc.LaunchConfig.flat(n, 256)
    s.launch(MODULE.function("stride"), flat, x, between, n)
    s.launch(MODULE.function("axpy"), flat, x, between, 0.5, out, n)
    scan = rc.LaunchConfig(1, 128)
    s.launch(MODULE.function("scan"), scan, out, between, n)
    s.copy_bytes(out, between)
    return out


@rc.op
def three_rows(s, x):
    batch, n = x.shape
    between = s.alloc_bytes(4 * batch * n)
    out = s.alloc_output(x.shape, x.dtype)
    flat = rc.LaunchConfig((grid_of(n, 256), 1, batch), 256)
    s.launch(MODULE.function("stride_rows"), flat, x, between, n)
    s.launch(MODULE.function("axpy_rows"), flat, x, between, 0.5, out, n)
    scan = rc.LaunchConfig((1, 1, batch), 128)
    s.launch(MODULE.function("scan_rows"), scan, out, between, n)
    s.copy_bytes(out, between)
    return out


def three_numpy(x):
    x = x.astype(np.float64)
    return np.cumsum(0.5 * x + x * x + 1, -1)


ELEMENTWISE = (256, lambda n: grid_of(n, 256))
ONE_BLOCK = (256, lambda _: 1)
# name -> (of an element, of all by hand, NumPy)
KERNELS = {
    "elementwise": (one("stride", *ELEMENTWISE), rows("stride", *ELEMENTWISE), None),
    "grid stride, 2 blocks": (
        one("stride", 128, lambda _: 2),
        rows("stride", 128, lambda _: 2),
        None,
    ),
    "block reduction": (
        one("sum", *ONE_BLOCK),
        rows("sum", *ONE_BLOCK),
        lambda x: x.astype(np.float64).sum(-1),
    ),
    "CUB block scan": (
        one("scan", 128, lambda _: 1),
        rows("scan", 128, lambda _: 1),
        lambda x: np.cumsum(x.astype(np.float64), -1),
    ),
    "tiled transpose": (
        transpose,
        transpose_rows,
        lambda x: np.swapaxes(x, -1, -2),
    ),
    "three launches, workspace": (three, three_rows, three_numpy),
}


def repeated(function, count):
    """Calls `function` in a loop inside of one program."""

    def body(_, carry):
        x, total = carry
        y = function(x)
        # What depends on the result: nothing is dropped or hoisted.
        return x, total + y.ravel()[0]

    return jax.jit(lambda x: jax.lax.fori_loop(0, count, body, (x, jnp.float32(0)))[1])


def vmap_table(sizes, batches, rounds, count):
    lines = []
    rng = np.random.default_rng(7)
    for n in sizes:
        for batch in batches:
            for name, (element, by_hand, reference) in KERNELS.items():
                shape = (
                    (batch, 16, n // 16) if name == "tiled transpose" else (batch, n)
                )
                x = rng.standard_normal(shape).astype(np.float32)
                batched = jax.vmap(element)
                want = reference(x) if reference else x.astype(np.float64) ** 2 + 1
                for f in (batched, by_hand):
                    np.testing.assert_allclose(
                        jax.jit(f)(x), want, rtol=1e-3, atol=1e-3
                    )
                device = jax.device_put(x)
                programs = {
                    "vmap": repeated(batched, count),
                    "by hand": repeated(by_hand, count),
                }
                times = interleaved(
                    {k: lambda f=f, d=device: f(d) for k, f in programs.items()}, rounds
                )
                microseconds = {k: 1e6 * t / count for k, t in times.items()}
                lines.append(
                    [
                        f"{name}, {batch} x {n}",
                        *(f"{microseconds[k]:.1f}" for k in programs),
                        f"{times['vmap'] / times['by hand']:.2f}",
                    ]
                )
    header = ["vmap, per call", "vmap, us", "by hand, us", "vmap / by hand"]
    return markdown(header, lines)


axpy = rc.kernel(MODULE.function("axpy"), shapes="n, n -> n", threads="n", block=256)


def scalar_table(rounds):
    rng = np.random.default_rng(8)
    x, y = (jax.device_put(rng.standard_normal(4096).astype(np.float32)) for _ in "xy")
    static = jax.jit(lambda x, y: axpy(x, y, 1.5))
    dynamic = jax.jit(lambda x, y, a: axpy(x, y, a))
    a = jax.device_put(np.float32(1.5))
    np.testing.assert_array_equal(dynamic(x, y, a), static(x, y))
    calls = 300

    def many(call):
        def run():
            for _ in range(calls):
                result = call()
            return result

        return run

    values = iter(rng.standard_normal(10_000_000).astype(np.float32))
    times = interleaved(
        {
            "static": many(lambda: static(x, y)),
            "on the device": many(lambda: dynamic(x, y, a)),
            "new NumPy scalar": many(lambda: dynamic(x, y, next(values))),
            "eager, new Python float": many(lambda: axpy(x, y, float(next(values)))),
        },
        rounds,
    )
    lines = [
        [name, f"{1e6 * t / calls:.1f}", f"{t / times['static']:.2f}"]
        for name, t in times.items()
    ]
    return markdown(["a scalar, per call", "us", "of static"], lines)


def many_elements():
    """Checks a batch beyond every limit of a grid."""
    x = np.random.default_rng(9).standard_normal((200_000, 33)).astype(np.float32)
    start = time.perf_counter()
    got = jax.jit(jax.vmap(KERNELS["block reduction"][0]))(x)
    np.testing.assert_allclose(got, x.astype(np.float64).sum(-1), rtol=1e-3, atol=1e-3)
    seconds = time.perf_counter() - start
    return f"200,000 elements of 33 floats, summed: right ({seconds:.1f} s, compiled)."


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    rounds = 5 if parser.parse_args().quick else 15
    gpu = jax.default_backend() == "gpu"
    sizes, batches = ([512], [64, 4096]) if gpu else ([32, 512], [64, 4096])
    print(machine(), "\n")
    print(vmap_table(sizes, batches, rounds, 50 if gpu else 3), "\n")
    print(scalar_table(rounds), "\n")
    print(many_elements())


if __name__ == "__main__":
    main()
