"""CUDA kernels on the CPU against Numba's CUDA simulator, in one run.

The simulator runs the kernel's Python, a host thread per CUDA thread, so the sizes are
small. Needs numba.
"""

from __future__ import annotations

import os

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # read when numba is imported

import jax
import jax.numpy as jnp
import numpy as np
from _timing import interleaved, machine, markdown
from cpu import kernel
from numba import cuda, float32

jax.config.update("jax_platforms", "cpu")

TILE = 16


@cuda.jit
def sim_axpy(x, y, a, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = a * x[i] + y[i]


@cuda.jit
def sim_block_sum(x, partials):
    scratch = cuda.shared.array(256, dtype=float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    scratch[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            scratch[t] += scratch[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        partials[cuda.blockIdx.x] = scratch[0]


@cuda.jit
def sim_matmul(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), dtype=float32)
    tile_b = cuda.shared.array((TILE, TILE), dtype=float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0.0)
    for first in range(0, a.shape[1], TILE):
        tile_a[y, x] = a[row, first + x]
        tile_b[y, x] = b[first + y, column]
        cuda.syncthreads()
        for j in range(TILE):
            total += tile_a[y, j] * tile_b[j, x]
        cuda.syncthreads()
    c[row, column] = total


def cases():
    """Yields (name, our call, the simulator's call)."""
    normal = np.random.default_rng(0).standard_normal

    axpy = kernel(
        "saxpy.cu",
        "axpy",
        shapes="n, n -> n",
        template=np.float32,
        threads="n",
        block=256,
    )
    x, y = (normal(4096, np.float32) for _ in range(2))
    ours = jax.jit(lambda x, y: axpy(x, y, 2.5))

    def simulated_axpy():
        out = np.empty_like(x)
        sim_axpy[x.size // 256, 256](x, y, np.float32(2.5), out)
        return out

    device = jnp.asarray(x), jnp.asarray(y)
    yield "saxpy 4096", lambda: ours(*device), simulated_axpy

    block_sum = kernel(
        "reduce.cu", "block_sum", shapes="n -> (n + 255)//256", threads="n", block=256
    )
    sums = jax.jit(block_sum)

    def simulated_sum():
        partials = np.empty(x.size // 256, np.float32)
        sim_block_sum[x.size // 256, 256](x, partials)
        return partials

    yield "block reduction 4096", lambda: sums(device[0]), simulated_sum

    matmul = jax.jit(
        kernel(
            "matmul.cu",
            "matmul",
            shapes="m k, k n -> m n",
            threads=("n", "m"),
            block=(TILE, TILE),
        )
    )
    a, b = (normal((32, 32), np.float32) for _ in range(2))

    def simulated_matmul():
        c = np.empty_like(a)
        sim_matmul[(2, 2), (TILE, TILE)](a, b, c)
        return c

    matrices = jnp.asarray(a), jnp.asarray(b)
    yield "tiled matmul 32^3", lambda: matmul(*matrices), simulated_matmul


def main():
    rows = []
    for name, ours, simulated in cases():
        np.testing.assert_allclose(ours(), simulated(), rtol=1e-4, atol=1e-4)
        times = interleaved({"ours": ours, "simulator": simulated}, rounds=5)
        texts = [f"{1e3 * t:.3f}" for t in times.values()]
        rows.append([name, *texts, f"{times['simulator'] / times['ours']:.0f}"])
    print(machine(), "\n")
    header = ["CPU, medians", "ours, ms", "Numba's simulator, ms", "simulator / ours"]
    print(markdown(header, rows))


if __name__ == "__main__":
    main()
