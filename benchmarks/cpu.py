"""CUDA kernels on the CPU against jitted jnp and against g++ loops, in one run.

The streaming kernels are the claim: they vectorise, and stay near XLA. The others are
for information: nobody runs a tiled matmul on a CPU for speed.
"""

from __future__ import annotations

import functools
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from _loops import Loops
from _timing import interleaved, machine, markdown

import jax_rawcuda as rc

jax.config.update("jax_platforms", "cpu")

KERNELS = Path(__file__).parents[1] / "tests" / "support" / "kernels"
COUNT = 10_000_000


def kernel(file, name, **contract):
    """Makes a kernel of the test corpus."""
    return rc.kernel(KERNELS / file, name, **contract)


def heat_jnp(u):
    """Takes the step of kernels/stencil.cu."""
    inner = u[1:-1, 1:-1, 1:-1]
    around = (
        (u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:])
        + (u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1])
        + (u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1])
    )
    return u.at[1:-1, 1:-1, 1:-1].set(inner + 0.1 * (around - 6 * inner))


def cases():
    """Yields (name, our function, its jnp and C++ counterparts, operands)."""
    loops = Loops()
    normal = np.random.default_rng(0).standard_normal
    x, y = (jnp.asarray(normal(COUNT, np.float32)) for _ in range(2))

    axpy = kernel(
        "saxpy.cu",
        "axpy",
        shapes="n, n -> n",
        template=lambda x, *_: (x.dtype,),
        threads="n",
        block=256,
    )
    strided = kernel(
        "saxpy.cu",
        "saxpy_grid_stride",
        shapes="n, n -> n",
        launch=lambda *_: rc.LaunchConfig(grid=1024, block=256),
    )

    def axpy_jnp(x, y):
        return 2.5 * x + y

    yield (
        "saxpy 1e7, an element per thread",
        lambda x, y: axpy(x, y, 2.5),
        axpy_jnp,
        loops.axpy,
        (x, y),
    )
    yield (
        "saxpy 1e7, grid stride",
        lambda x, y: strided(x, y, 2.5),
        axpy_jnp,
        loops.axpy,
        (x, y),
    )

    heat = kernel(
        "stencil.cu",
        "heat",
        shapes="d h w -> d h w",
        template=lambda u, _: (u.dtype,),
        threads=("w", "h", "d"),
        block=(64, 4, 1),
    )
    u = jnp.asarray(normal((256, 256, 256), np.float32))
    yield "3-D stencil 256^3", lambda u: heat(u, 0.1), heat_jnp, loops.heat, (u,)

    partials = kernel(
        "reduce.cu", "block_sum", shapes="n -> (n + 255)//256", threads="n", block=256
    )
    yield (
        "block reduction 1e7",
        lambda x: jnp.sum(partials(x)),
        jnp.sum,
        loops.sum,
        (x,),
    )

    matmul = kernel(
        "matmul.cu",
        "matmul",
        shapes="m k, k n -> m n",
        threads=("n", "m"),
        block=(16, 16),
    )
    a, b = (jnp.asarray(normal((512, 512), np.float32)) for _ in range(2))
    yield "tiled matmul 512^3", matmul, jnp.matmul, loops.matmul, (a, b)

    softmax = kernel(
        "rows.cu",
        "softmax",
        shapes="rows cols -> rows cols",
        launch=lambda x: rc.LaunchConfig(grid=x.shape[0], block=128),
    )
    rows = jnp.asarray(normal((2048, 1024), np.float32))
    yield "softmax 2048 x 1024", softmax, jax.nn.softmax, loops.softmax, (rows,)


def main():
    rows = []
    for name, ours, theirs, loop, operands in cases():
        arrays = [np.asarray(x) for x in operands]
        functions = {
            "ours": functools.partial(jax.jit(ours), *operands),
            "jnp": functools.partial(jax.jit(theirs), *operands),
            "g++": functools.partial(loop, *arrays),
        }
        got, *others = (f() for f in functions.values())
        for other in others:
            np.testing.assert_allclose(got, other, rtol=1e-3, atol=1e-2)
        times = interleaved(functions)
        texts = [f"{1e3 * t:.1f}" for t in times.values()]
        ratios = [f"{times['ours'] / times[key]:.2f}" for key in ("jnp", "g++")]
        rows.append([name, *texts, *ratios])
    header = ["ours, ms", "jnp, ms", "g++, ms", "ours / jnp", "ours / g++"]
    print(machine(), "\n")
    print(markdown(["CPU, medians", *header], rows))


if __name__ == "__main__":
    main()
