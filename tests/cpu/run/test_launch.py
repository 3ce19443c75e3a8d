"""A kernel of the emulator, launched by the binding: no plan and no XLA."""

from __future__ import annotations

import numpy as np
import pytest
from support.cpu_runner import compile_ptx, fault, launch, run, zeros
from support.process import run_python

from jax_rawcuda import _ffi, cpu
from jax_rawcuda._base import settings
from jax_rawcuda._base.errors import BackendError, ValidationError


def test_launches_on_random_data(rng):
    x = rng.normal(size=(5, 4, 3)).astype(np.float32)
    source = """(const float* x, float* y) {
      int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
      y[b] = 2 * x[b] + blockIdx.z;
    }"""
    _, y = run(source, x, np.zeros_like(x), grid=(3, 4, 5), block=1)
    np.testing.assert_array_equal(
        y, 2 * x + np.arange(5, dtype=np.float32)[:, None, None]
    )


def test_scalars_and_shared_memory(rng):
    source = """(const float* x, double scale, float* y, short shift) {
      extern __shared__ float s[];
      s[threadIdx.x] = x[threadIdx.x];
      __syncthreads();
      y[threadIdx.x] = scale * s[(threadIdx.x + shift) % blockDim.x];
    }"""
    x = rng.normal(size=96).astype(np.float32)
    y = np.zeros_like(x)
    kernel = cpu.load_kernel(compile_ptx(source), "k")
    given = x, np.float64(3), y, np.int16(5)
    launch(kernel, *given, block=96, shared_mem_bytes=4 * 96)
    np.testing.assert_array_equal(y, np.float32(3) * np.roll(x, -5))


GRID_SUM = """(const int*, int*);
#include <cooperative_groups.h>
extern "C" __global__ void k(const int* x, int* out) {
  if (threadIdx.x == 0) atomicAdd(out, x[blockIdx.x]);
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) out[1 + blockIdx.x] = out[0];
}"""


def test_cooperative_launches_wait_for_all_blocks(rng):
    x = rng.integers(0, 1000, 30).astype(np.int32)
    out = zeros(31)
    kernel = cpu.load_kernel(compile_ptx(GRID_SUM), "k")
    launch(kernel, x, out, grid=30, block=64, cooperative=True)
    np.testing.assert_array_equal(out, np.full(31, x.sum()))
    with pytest.raises(BackendError, match="k: trap in thread"):
        launch(kernel, x, out, grid=30, block=64)


CLUSTER = """(int*);
#include <cooperative_groups.h>
extern "C" __global__ void %s k(int* out) {
  __shared__ int mine;
  auto cluster = cooperative_groups::this_cluster();
  mine = 10 * out[blockIdx.x];
  cluster.sync();
  int next = (cluster.block_rank() + 1) %% cluster.num_blocks();
  out[blockIdx.x] = *cluster.map_shared_rank(&mine, next);
  cluster.sync();
}"""


@pytest.mark.parametrize(("cluster", "fixed"), [(3, ""), (0, "__cluster_dims__(3)")])
def test_clusters(cluster, fixed, rng):
    x = rng.integers(0, 1000, 6).astype(np.int32)
    cluster = (cluster, 1, 1) if cluster else (0, 0, 0)
    (out,) = run(CLUSTER % fixed, x, grid=6, block=1, cluster=cluster)
    rolled = np.roll(x.reshape(2, 3), -1, axis=1)
    np.testing.assert_array_equal(out, 10 * rolled.ravel())


# What is refused

ONE = "(int* out) { out[0] = 1; }"


@pytest.mark.parametrize(
    ("geometry", "text"),
    [
        (
            {"grid": (1, 65536)},
            r"k: grid=\(1,65536,1\) is out of range; the limit is \(2147483647,65535,6",
        ),
        (
            {"block": (1, 1, 65)},
            r"k: block=\(1,1,65\) is out of range; the limit is \(1024,1024,64\)\.",
        ),
        (
            {"block": (32, 33)},
            r"k: block=\(32,33,1\) has 1056 threads; the limit is 1024 threads per bl",
        ),
        (
            {"grid": 4, "cluster": (3, 1, 1)},
            r"k: grid=\(4,1,1\) is not divisible by cluster=\(3,1,1\)\. Round the grid",
        ),
        (
            {"grid": 34, "cluster": (17, 1, 1)},
            r"k: cluster=\(17,1,1\) has 17 blocks; the limit is 16\.",
        ),
        (
            {"grid": 4, "cluster": (2, 0, 1)},
            r"k: grid=\(4,1,1\) is not divisible by cluster=\(2,0,1\)\.",
        ),
        ({"shared_mem_bytes": 1 << 20}, "k: 1048576 bytes of shared memory per block"),
    ],
)
def test_launches_beyond_the_limits_are_refused(geometry, text):
    with pytest.raises(ValidationError, match=text):
        run(ONE, zeros(1), **geometry)


def test_parameters_of_another_size_are_refused():
    kernel = cpu.load_kernel(compile_ptx(ONE), "k")
    with pytest.raises(
        ValidationError, match=r"^k: 12 bytes of parameters; it has 8\.$"
    ):
        _ffi.launch_host_kernel(kernel, bytes(12), (1, 1, 1), (1, 1, 1))


@pytest.mark.parametrize(("grid", "wrong"), [((1, 1), "two"), ((-1, 1, 1), "negative")])
def test_extents_are_three_numbers(grid, wrong):
    kernel = cpu.load_kernel(compile_ptx(ONE), "k")
    with pytest.raises(TypeError):
        _ffi.launch_host_kernel(kernel, bytes(8), grid, (1, 1, 1))


def test_something_else_is_no_kernel():
    with pytest.raises(AttributeError, match="name"):
        _ffi.launch_host_kernel(object(), b"", (1, 1, 1), (1, 1, 1))


def test_a_kernel_that_fails():
    with pytest.raises(BackendError, match=r"^k: trap in thread \(2,0,0\), block"):
        run("(int* out) { if (threadIdx.x == 2) __trap(); }", zeros(1))


def test_an_empty_grid_launches_nothing():
    (out,) = run(ONE, zeros(1) + 7, grid=0)
    assert out.tolist() == [7]


ENDLESS = "(int* out) { while (out[1] == 0) out[0] = out[0] * 3 + 1; }"


@pytest.mark.parametrize("setting", ["0.3", ".3", "00.30"])
def test_the_time_limit(setting, monkeypatch):
    monkeypatch.setenv("JAX_RAWCUDA_CPU_TIMEOUT", setting)
    assert "k: still running after 0.3 s in thread (" in fault(ENDLESS, zeros(2))


@pytest.mark.parametrize("setting", ["", "0", "0.", ".0", "7", "12.5", "3."])
def test_time_limits_that_are_understood(setting, monkeypatch):
    monkeypatch.setenv("JAX_RAWCUDA_CPU_TIMEOUT", setting)
    settings.require_native()
    assert run(ONE, zeros(1))[0].tolist() == [1]


@pytest.mark.parametrize("setting", ["abc", "-1", "1e3", "1.2.3", ".", "5 s", "nan"])
def test_time_limits_that_are_not(setting, monkeypatch):
    monkeypatch.setenv("JAX_RAWCUDA_CPU_TIMEOUT", setting)
    with pytest.raises(ValidationError) as native:
        run(ONE, zeros(1))
    with pytest.raises(ValidationError) as python:
        settings.require_native()
    assert str(native.value) == str(python.value)
    assert "seconds are needed, as 10 or 0.5." in str(native.value)


def test_control_c():
    program = """
        import os, signal, threading
        from support.cpu_runner import run, zeros

        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            run("(int* out) { while (out[1] == 0) out[0]++; }", zeros(2))
        except KeyboardInterrupt:
            print("KeyboardInterrupt")
        print(run("(int* out) { out[0] = 7; }", zeros(1))[0].tolist())
    """
    ended = run_python(program, JAX_RAWCUDA_CPU_TIMEOUT="60")
    assert ended.stdout.splitlines() == ["KeyboardInterrupt", "[7]"]
