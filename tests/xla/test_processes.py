"""Kernels from several threads, and in processes that compile nothing."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.exported import call_elsewhere
from support.process import persistent_cache, run_python

import jax_rawcuda as rc


@pytest.fixture
def device(default_device):
    return default_device


def affine(slope):
    """Makes a kernel with a text of its own for each slope, always of one name."""
    return rc.kernel(
        f"""
extern "C" __global__ void affine(const float* x,  // f32[n]
                                  float* out,      // f32[n]
                                  int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = {slope}.0f * x[i] + 1.0f;
}}""",
        shapes="n -> n",
        threads="n",
        block=32,
    )


X = np.random.default_rng(3).integers(-100, 100, 500).astype(np.float32)


@pytest.mark.parametrize("same", [True, False], ids=["same-kernel", "eight-kernels"])
def test_eight_threads(device, same):
    barrier = threading.Barrier(8)

    def work(k):
        slope = 11 if same else 20 + k
        with jax.default_device(device):
            barrier.wait(timeout=60)
            function = jax.jit(affine(slope))
            return slope, [np.asarray(function(X)) for _ in range(5)]

    with ThreadPoolExecutor(8) as pool:
        for slope, results in pool.map(work, range(8)):
            for result in results:
                np.testing.assert_array_equal(result, slope * X + 1)


def test_one_executable_in_eight_threads(device):
    function = jax.jit(affine(9)).lower(X).compile()

    def work(k):
        x = jax.device_put(X + k, device)
        return [np.asarray(function(x)) for _ in range(20)]

    with ThreadPoolExecutor(8) as pool:
        for k, results in enumerate(pool.map(work, range(8))):
            for result in results:
                np.testing.assert_array_equal(result, 9 * (X + k) + 1)


def test_two_texts_under_one_name(device):
    two, three = affine(2), affine(3)
    got = jax.jit(lambda x: (two(three(x)), two(x), three(x)))(X)
    np.testing.assert_array_equal(got[0], 2 * (3 * X + 1) + 1)
    np.testing.assert_array_equal(got[1], 2 * X + 1)
    np.testing.assert_array_equal(got[2], 3 * X + 1)


def test_export_into_a_process_that_never_saw_the_kernel(device, tmp_path):
    kernel = affine(5)
    exported = jax.export.export(
        jax.jit(lambda x: 2 * kernel(x)),
        platforms=["cuda" if device.platform == "gpu" else "cpu"],
        disabled_checks=rc.export_safety_checks(),
    )(jax.ShapeDtypeStruct((70,), jnp.float32))
    x = np.arange(70, dtype=np.float32)
    got = call_elsewhere(exported, x, tmp_path, device.platform)
    np.testing.assert_array_equal(got, 2 * (5 * x + 1))


def test_export_of_a_batch_of_scalars_under_grad(device, tmp_path):
    scale = rc.kernel(
        """
__global__ void scale(const float* x, double a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (float)a * x[i];
}""",
        shapes="n -> n",
        threads="n",
    )
    f = jax.custom_vjp(scale)
    f.defvjp(
        lambda x, a: (scale(x, a), (x, a)),
        lambda saved, g: (scale(g, saved[1]), jnp.vdot(saved[0], g).astype("f8")),
    )

    def loss(x):
        def step(total, a):
            return total + (jax.vmap(f, (None, 0))(x, a * scales) ** 2).sum(), None

        return jax.lax.scan(step, jnp.float32(0), jnp.float64([1, 3]))[0]

    with jax.enable_x64(True):
        scales = jnp.float64([0.5, 2, -1])
        exported = jax.export.export(
            jax.jit(jax.grad(loss)),
            platforms=["cuda" if device.platform == "gpu" else "cpu"],
            disabled_checks=rc.export_safety_checks(),
        )(jax.ShapeDtypeStruct((70,), jnp.float32))
    x = np.arange(70, dtype=np.float32)
    got = call_elsewhere(exported, x, tmp_path, device.platform)
    np.testing.assert_allclose(got, 2 * x * (0.25 + 4 + 1) * (1 + 9), rtol=1e-6)


CACHED = '''
import sys

import jax
import numpy as np
import jax_rawcuda as rc

hits = []
jax.monitoring.register_event_listener(
    lambda name, **_: hits.append(name) if name.endswith("/cache_hits") else None
)
scale = rc.kernel(
    """
extern "C" __global__ void scale(const float* x, float a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i];
}""",
    shapes="n -> n",
    threads="n",
    block=32,
)
x = np.arange(70, dtype=np.float32)
x = jax.device_put(x, jax.devices(sys.argv[1])[0])
assert np.array_equal(jax.jit(lambda x: scale(x, x[2]) + 1)(x), 2 * x + 1)
print(len(hits), rc.cache_stats().compiles)
'''


def test_second_process_compiles_nothing(device, tmp_path):
    kept = persistent_cache(tmp_path / "xla")
    kept["JAX_RAWCUDA_CACHE_DIR"] = str(tmp_path / "rawcuda")
    printed = (run_python(CACHED, device.platform, **kept).stdout for _ in range(2))
    first, second = ([int(n) for n in text.split()] for text in printed)
    assert first[1] > 0
    assert second[0] > first[0]  # XLA's executables came from its persistent cache
    assert second[1] == 0
