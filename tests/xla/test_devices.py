"""Two devices: modules per device, shard_map with collectives, sharded jit, threads."""

from __future__ import annotations

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import jax_rawcuda as rc

AXPY = """
__constant__ float shift = 0.0f;
__global__ void axpy(const float* x, const float* y, float a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i] + shift;
}"""
SHARED = """
__global__ void row_sum(const float* x, float* out, int cols) {
  extern __shared__ float partial[];
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += x[blockIdx.x * cols + i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}"""

axpy = rc.kernel(AXPY, shapes="n, n -> n", threads="n")
# More shared memory than a launch gets without asking, on each device.
row_sum = rc.kernel(
    SHARED,
    shapes="rows cols -> rows",
    launch=lambda x, *_: rc.LaunchConfig(x.shape[0], 256, 100 * 1024),
)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.multi_gpu)])
def pair(request):
    return jax.devices(request.param)[:2]


@pytest.fixture
def mesh(pair):
    return Mesh(np.array(pair), ("d",))


@pytest.fixture
def xy():
    rng = np.random.default_rng(17)
    return tuple(rng.standard_normal(4096, np.float32) for _ in range(2))


def test_each_device_runs_its_own_call(pair, xy):
    for device in (*pair, *pair[::-1]):
        x, y = (jax.device_put(a, device) for a in xy)
        result = jax.jit(axpy, static_argnums=2)(x, y, 2.0)
        assert result.devices() == {device}
        np.testing.assert_allclose(result, 2 * xy[0] + xy[1], rtol=1e-6)


def test_shared_memory_is_opted_in_on_each_device(pair):
    x = np.random.default_rng(1).standard_normal((37, 1000), np.float32)
    for device in pair:
        result = jax.jit(row_sum)(jax.device_put(x, device))
        np.testing.assert_allclose(result, x.sum(1), rtol=1e-4, atol=1e-3)


def test_values_of_variables_reach_each_device(pair, xy):
    module = rc.compile_nvrtc(AXPY).global_("shift").set(np.float32(3))
    shifted = rc.kernel(module, shapes="n, n -> n", threads="n")
    for device in pair:
        x, y = (jax.device_put(a, device) for a in xy)
        np.testing.assert_allclose(
            jax.jit(shifted, static_argnums=2)(x, y, 1.0), xy[0] + xy[1] + 3, rtol=1e-5
        )


@pytest.mark.parametrize("check_vma", [True, False])
def test_shard_map_with_a_collective(mesh, xy, check_vma):
    def local(x, y):
        return jax.lax.psum(axpy(x, y, 2.0), "d")

    f = jax.shard_map(
        local, mesh=mesh, in_specs=(P("d"), P("d")), out_specs=P(), check_vma=check_vma
    )
    expected = (2 * xy[0] + xy[1]).reshape(2, -1).sum(0)
    np.testing.assert_allclose(jax.jit(f)(*xy), expected, rtol=1e-5, atol=1e-5)


def test_shard_map_in_a_loop_with_in_place_use(mesh, xy):
    add = rc.kernel(
        """__global__ void add(float* total, const float* x, int n) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) total[i] += x[i];
        }""",
        shapes="n, n ->",
        in_out="total",
        threads="n",
    )

    def local(total, x):
        def step(_, total):
            return add(total, jax.lax.ppermute(x, "d", [(0, 1), (1, 0)]))

        return jax.lax.fori_loop(0, 10, step, total)

    f = jax.shard_map(local, mesh=mesh, in_specs=P("d"), out_specs=P("d"))
    total, x = xy
    other = np.concatenate(np.split(x, 2)[::-1])
    np.testing.assert_allclose(
        jax.jit(f)(total, x), total + 10 * other, rtol=1e-4, atol=1e-4
    )


def test_sharded_operands_of_a_plain_jit_give_the_right_values(mesh, xy):
    x, y = (jax.device_put(a, NamedSharding(mesh, P("d"))) for a in xy)
    result = jax.jit(lambda x, y: jnp.sin(axpy(x, y, 2.0)))(x, y)
    np.testing.assert_allclose(result, np.sin(2 * xy[0] + xy[1]), rtol=1e-5, atol=1e-5)


def test_two_threads_on_two_devices(pair, xy):
    results = {}

    def work(device):
        x, y = (jax.device_put(a, device) for a in xy)
        f = jax.jit(axpy, static_argnums=2)
        for i in range(50):
            results[device, i] = f(x, y, float(i))

    threads = [threading.Thread(target=work, args=(d,)) for d in pair]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 100
    for (_, i), result in results.items():
        np.testing.assert_allclose(result, i * xy[0] + xy[1], rtol=1e-5, atol=1e-5)
