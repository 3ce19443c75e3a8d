"""Memory and clusters on the CPU: as much as a device has."""

from __future__ import annotations

import numpy as np
import pytest
from support.cpu_runner import fault, run, zeros

STATIC = "k: {} bytes for static shared memory per block; the limit is 49152. Declare "
DYNAMIC = "k: {} bytes of shared memory per block requested"


@pytest.mark.parametrize(
    ("static", "dynamic", "message"),
    [
        (12288, 0, ""),
        (12292, 0, STATIC.format(49168)),
        (1000000, 0, STATIC.format(4000000)),
        (12288, 178 << 10, ""),
        (12288, 180 << 10, DYNAMIC.format(228 << 10)),
    ],
)
def test_shared_memory_that_is_too_large(static, dynamic, message):
    source = f"""(int* out) {{
      __shared__ int s[{static}];
      extern __shared__ int t[];
      s[threadIdx.x] = t[threadIdx.x] = 1;
      __syncthreads();
      out[0] = s[out[0]] + t[out[0]];
    }}"""
    if message:
        assert message in fault(source, zeros(1), shared_mem_bytes=dynamic)
    else:
        (out,) = run(source, zeros(1), shared_mem_bytes=max(dynamic, 4))
        assert out[0] == 2


@pytest.mark.parametrize("blocks", [8, 9])
def test_clusters_that_are_too_large(blocks):
    source = f"""(int* out);
    extern "C" __global__ void __cluster_dims__({blocks}) k(int* out) {{
      atomicAdd(out, 1);
    }}"""
    if blocks == 8:
        assert run(source, zeros(1), grid=blocks, block=1)[0] == 8
        return
    assert (
        "k: its __cluster_dims__ (9, 1, 1) has 9 blocks; the portable limit is 8 blocks"
    ) in fault(source, zeros(1), grid=blocks, block=1)


def test_constant_memory_that_is_too_large():
    source = """(int* out);
    __constant__ int a[8192], b[{}];
    extern "C" __global__ void k(int* out) {{ out[0] += a[out[0]] + b[out[0]]; }}"""
    (out,) = run(source.format(8192), np.int32([8]))
    assert out[0] == 8
    message = fault(source.format(8193), zeros(1))
    assert "k: 65540 bytes for __constant__ variables; the limit is 65536." in message
