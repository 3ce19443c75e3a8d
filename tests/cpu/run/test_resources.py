"""What launches on the CPU take and give back: threads, memory; the largest ones."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.cpu_runner import zeros
from support.xla_runner import run

import jax_rawcuda as rc

PROC = Path("/proc/self")
linux = pytest.mark.skipif(not PROC.exists(), reason="needs /proc")

scale = rc.kernel(
    """__global__ void scale(const float* x, float* y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) y[i] = 3 * x[i];
    }""",
    shapes="n -> n",
    threads="n",
    block=64,
)


@pytest.fixture(autouse=True)
def on_the_cpu():
    with jax.default_device(jax.devices("cpu")[0]):
        yield


# Threads


class Threads:
    """The most threads that the process had while a `with` block ran."""

    def __enter__(self):
        self.most = self.now()
        self._stop = threading.Event()
        self._sampler = threading.Thread(target=self._sample)
        self._sampler.start()
        return self

    def _sample(self):
        while not self._stop.wait(0.002):
            self.most = max(self.most, self.now() - 1)

    def __exit__(self, *_):
        self._stop.set()
        self._sampler.join()

    @staticmethod
    def now():
        return len(list((PROC / "task").iterdir()))


def warm_up(x):
    """Lets XLA and JAX start the threads that they keep."""
    for _ in range(3):
        jax.block_until_ready(jax.jit(scale)(x))
        jax.block_until_ready(jax.jit(lambda x: x @ x)(jnp.ones((256, 256))))


@linux
def test_a_mapped_launch_starts_no_threads():
    x = jnp.arange(64 * 2000, dtype=jnp.float32).reshape(64, 2000)
    warm_up(x[0])
    mapped = jax.jit(jax.vmap(scale))
    np.testing.assert_array_equal(mapped(x), 3 * x)
    before = Threads.now()
    with Threads() as threads:
        for _ in range(20):
            jax.block_until_ready(mapped(x))
    assert threads.most <= before + (os.cpu_count() or 1)
    assert Threads.now() <= before + (os.cpu_count() or 1)


@linux
def test_launches_from_eight_threads_share_the_pool():
    x = jnp.arange(100_000, dtype=jnp.float32)
    warm_up(x)
    before = Threads.now()

    def work(_):
        for _ in range(20):
            jax.block_until_ready(scale(x))

    with Threads() as threads:
        for _ in range(6):
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(work, range(8)))
    # Our callers, and as many as XLA's own pools may still have to start: a thread that
    # each of the 48 callers left behind would show.
    pools = 2 * (os.cpu_count() or 1)
    assert threads.most <= before + 8 + pools
    assert Threads.now() <= before + pools


# Memory

LARGE = """(int* out) {
  __shared__ int s[10000];
  int a[8000];
  int t = threadIdx.x;
  for (int i = 0; i < 8000; i++) a[i] = out[t] + i;
  for (int i = t; i < 10000; i += blockDim.x) s[i] = a[i % 8000];
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = s[(t * 7 + 1) % 10000] + a[t];
}"""


def resident_bytes():
    pages = int((PROC / "statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@linux
def test_memory_of_many_launches_is_bounded():
    def launch(times):
        for _ in range(times):
            run(LARGE, zeros(4 * 256), grid=4, block=256)
        return resident_bytes()

    after_50 = launch(50)
    after_200 = launch(150)
    # A block has 8 MB of local arrays: a leak of one in ten launches would show.
    assert after_200 - after_50 < 64 << 20


@linux
def test_memory_of_launches_that_fail_is_bounded():
    wild = LARGE.replace("+ a[t]", "+ *(t == 200 ? (int*)(a[t] + 48ll) : out)")

    def launch(times):
        for _ in range(times):
            with pytest.raises(jax.errors.JaxRuntimeError, match="illegal memory"):
                run(wild, zeros(4 * 256), grid=4, block=256)
        return resident_bytes()

    after_20 = launch(20)
    after_80 = launch(60)
    assert after_80 - after_20 < 64 << 20


# The largest launches

INDICES = """(int* out) {
  int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int n = blockDim.x * blockDim.y * blockDim.z;
  out[b * n + t] = b * 7 + t;
}"""
LIMIT_GRID = "the limits are 2147483647, 65535 and 65535."
LIMIT_BLOCK = "the limits are 1024, 1024 and 64, and 1 to 1024 threads."


@pytest.mark.parametrize(
    ("grid", "block"),
    [
        ((1, 65535, 1), (1, 1, 1)),
        ((1, 1, 65535), (2, 1, 1)),
        ((3, 65535, 1), (1, 1, 1)),
        ((1_000_000, 1, 1), (1, 1, 1)),
        ((3, 1, 1), (1024, 1, 1)),
        ((3, 1, 1), (1, 1024, 1)),
        ((3, 1, 1), (1, 16, 64)),
        ((2, 2, 2), (16, 1, 64)),
        ((2, 1, 1), (2, 512, 1)),
    ],
)
@pytest.mark.parametrize("barrier", [False, True], ids=["plain", "barrier"])
def test_every_thread_of_large_launches_runs_once(grid, block, barrier):
    source = INDICES
    if barrier:
        source = source.replace("  out[", "  __syncthreads();\n  out[")
    blocks, threads = int(np.prod(grid)), int(np.prod(block))
    (out,) = run(source, zeros(blocks * threads) - 1, grid=grid, block=block)
    expected = np.arange(blocks)[:, None] * 7 + np.arange(threads)
    np.testing.assert_array_equal(out.reshape(blocks, threads), expected)


@pytest.mark.parametrize(
    ("geometry", "limit"),
    [
        ({"grid": (2**31, 1, 1)}, LIMIT_GRID),
        ({"grid": (1, 65536, 1)}, LIMIT_GRID),
        ({"grid": (1, 1, 65536)}, LIMIT_GRID),
        ({"block": (1025, 1, 1)}, LIMIT_BLOCK),
        ({"block": (1, 1, 65)}, LIMIT_BLOCK),
        ({"block": (2**32 - 1, 2**32 - 1, 2**32 - 1)}, LIMIT_BLOCK),
        ({"block": (32, 33, 1)}, LIMIT_BLOCK),
    ],
)
def test_launches_beyond_the_limits_are_refused(geometry, limit):
    with pytest.raises(jax.errors.JaxRuntimeError) as caught:
        run("(int* out) { out[0] = 1; }", zeros(1), **geometry)
    assert limit in str(caught.value)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_the_largest_grid_stops_at_the_time_limit(axis, monkeypatch):
    monkeypatch.setenv("JAX_RAWCUDA_CPU_TIMEOUT", "0.3")
    grid = {"x": (2**31 - 1, 1, 1), "y": (2**16, 65535, 1), "z": (2**16, 1, 65535)}
    source = f"(int* out) {{ if (blockIdx.{axis} == 5) atomicAdd(out, 1); }}"
    with pytest.raises(jax.errors.JaxRuntimeError, match="still running after"):
        run(source, zeros(1), grid=grid[axis], block=64)
