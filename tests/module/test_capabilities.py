"""What a device says it can do, against what launches find."""

from __future__ import annotations

import dataclasses
from unittest import mock

import jax
import numpy as np
import pytest

import jax_rawcuda as rc

MODULE = rc.compile_nvrtc(r"""
extern "C" __global__ void mark(int* out) {
  extern __shared__ int s[];
  s[threadIdx.x] = warpSize;
  __syncthreads();
  if (blockIdx.x == gridDim.x - 1) out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void rank(int* out) {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  out[blockIdx.x] = rank;
}
""")


@pytest.fixture
def device(default_device):
    return default_device


def largest_launch(shared_mem_bytes, threads):
    @rc.op
    def f(s):
        out = s.alloc_output(threads, np.int32)
        config = rc.LaunchConfig(3, threads, shared_mem_bytes)
        s.launch(MODULE.function("mark"), config, out)
        return out

    return np.asarray(jax.block_until_ready(f()))


def test_limits_are_those_of_launches(device):
    can = rc.capabilities(device)
    threads, shared = can.max_threads_per_block, can.shared_mem_bytes_opt_in
    np.testing.assert_array_equal(
        largest_launch(shared, threads), np.full(threads, can.warp_size)
    )
    with pytest.raises((rc.ValidationError, jax.errors.JaxRuntimeError)):
        largest_launch(shared + 4, threads)
    with pytest.raises(rc.ValidationError):
        largest_launch(0, threads + 1)


def test_clusters_run_where_they_should(device):
    @rc.op
    def f(s):
        out = s.alloc_output(4, np.int32)
        s.launch(MODULE.function("rank"), rc.LaunchConfig(4, 32, cluster=2), out)
        return out

    assert rc.capabilities(device).cluster_launch
    np.testing.assert_array_equal(f(), [0, 1, 0, 1])


def test_values_are_plausible(device):
    can = rc.capabilities()
    assert can == rc.capabilities(device)
    assert can.platform == ("cpu" if device.platform == "cpu" else "cuda")
    assert can.name == device.device_kind
    assert can.multiprocessors > 0
    assert can.shared_mem_bytes <= can.shared_mem_bytes_opt_in
    assert can.max_grid == (2**31 - 1, 65535, 65535)
    assert can.max_block == (1024, 1024, 64)
    with pytest.raises(dataclasses.FrozenInstanceError):
        can.tma = True


def test_the_cpu_has_the_limits_of_its_emulation():
    can = rc.capabilities(jax.devices("cpu")[0])
    assert can.compute_capability == (9, 0)
    assert can.cooperative_launch
    assert (can.tma, can.driver_version) == (False, None)
    assert can.memory_bytes is None or can.memory_bytes > 1 << 28


@pytest.mark.gpu
def test_a_gpu_says_what_jax_says():
    device = jax.devices("gpu")[0]
    can = rc.capabilities(device)
    assert ".".join(map(str, can.compute_capability)) == device.compute_capability
    assert can.multiprocessors == device.core_count
    assert can.memory_bytes > device.memory_stats()["bytes_limit"]
    assert can.tma == can.cluster_launch == (can.compute_capability >= (9, 0))
    assert can.l2_bytes > 1 << 20
    assert float(can.driver_version) >= 12


def test_devices_of_others_are_refused():
    far = mock.Mock(jax.Device, process_index=3)
    with pytest.raises(rc.ValidationError, match="belongs to process 3"):
        rc.capabilities(far)
    tpu = mock.Mock(jax.Device, process_index=0, platform="tpu")
    with pytest.raises(rc.UnsupportedError, match="neither a CUDA device nor the CPU"):
        rc.capabilities(tpu)


@pytest.mark.parametrize("device", [0, "cpu", jax.ShapeDtypeStruct((), np.int32)])
def test_only_devices_are_asked(device):
    with pytest.raises(rc.ValidationError, match=r"^capabilities: device=.*of jax.dev"):
        rc.capabilities(device)
