"""What kernels on the CPU report: faults, refusals and their own printing."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from support.cpu_runner import fault, run, zeros

import jax_rawcuda as rc


def test_trap_says_where():
    message = fault(
        """(int* out) {
          if (blockIdx.x == 1 && threadIdx.x == 3)
            __trap();
        }""",
        zeros(1),
        grid=2,
    )
    assert "k: trap in thread (3,0,0), block (1,0,0) at k.cu:3." in message


def test_trap_in_a_device_function_between_barriers():
    message = fault(
        """(int* out) {
          __shared__ int s[64];
          s[threadIdx.x] = out[0];
          __syncthreads();
          if (s[63 - threadIdx.x] != 7 && threadIdx.y == 1) __trap();
          __syncthreads();
          out[0] = 1;
        }""",
        zeros(1),
        block=(8, 8),
    )
    assert "k: trap in thread (0,1,0), block (0,0,0) at k.cu:5." in message


def test_assertion_says_what_failed():
    message = fault(
        """(int* out) {
          assert(threadIdx.x < 5);
          out[threadIdx.x] = 1;
        }""",
        zeros(32),
    )
    assert "k: assertion `threadIdx.x < 5` failed in thread (5,0,0)" in message
    assert "at k.cu:2 (" in message


def test_deadlock_lists_who_waits_where():
    message = fault(
        """(int* out) {
          __shared__ int s[64];
          s[threadIdx.x] = 1;
          if (threadIdx.x < 16)
            out[threadIdx.x] = __shfl_xor_sync(~0u, s[threadIdx.x + 1], 1);
          else
            __syncthreads();
          out[threadIdx.x] = s[63 - threadIdx.x];
        }""",
        zeros(64),
        block=64,
    )
    assert "k: deadlock in block (0,0,0): no thread can continue." in message
    assert "16 threads wait at" in message
    assert "48 threads wait at" in message
    assert "shfl.sync" in message
    assert "k.cu:5" in message


def test_endless_spinning_ends(monkeypatch):
    monkeypatch.setenv("JAX_RAWCUDA_CPU_TIMEOUT", "0.3")
    spin = "(volatile int* flag) { while (*flag == 0) {} }"
    message = fault(spin, zeros(1), grid=3)
    assert "k: still running after 0.3 s while all threads spin: thread (" in message
    assert (
        ": spin loop. If it would end, set JAX_RAWCUDA_CPU_TIMEOUT to more" in message
    )


def test_blocks_that_do_not_fit():
    empty = "(int* out) { extern __shared__ int s[]; s[threadIdx.x] = 1; *out = s[0]; }"
    message = fault(empty, zeros(1), shared_mem_bytes=300000)
    expected = "k: 300000 bytes of shared memory per block requested; the limit is"
    assert expected + " 232448." in message
    bounded = """(int*) __attribute__((launch_bounds(64)));
      extern "C" __global__ void k(int* out) { *out = 1; }"""
    assert "the limit is 64 threads" in fault(bounded, zeros(1), block=96)


# Printing and the heap


def test_printf(capfd):
    run(
        r"""(int* out) {
          if (threadIdx.x == 1)
            printf("%d|%5.2f|%s|%lld|%c|%x|%%|%-4d|%*d|%u\n", -3, 1.5, "text",
                   1ll << 40, 'z', 255u, 7, 6, 42, 4000000000u);
        }""",
        zeros(1),
    )
    expected = "-3| 1.50|text|1099511627776|z|ff|%|7   |    42|4000000000\n"
    assert capfd.readouterr().out == expected


def test_device_heap():
    (out,) = run(
        """(int* out) {
          int* p = (int*)malloc(64);
          for (int i = 0; i < 16; i++) p[i] = threadIdx.x + i;
          int sum = 0;
          for (int i = 0; i < 16; i++) sum += p[i];
          free(p);
          out[threadIdx.x] = sum;
        }""",
        zeros(32),
    )
    np.testing.assert_array_equal(out, 16 * np.arange(32) + 120)


def test_grid_sync_needs_a_cooperative_launch():
    # It traps, as on a device: nothing says that the blocks run at the same time.
    kernel = rc.kernel(
        """#include <cooperative_groups.h>
        __global__ void k(int* out) {
          cooperative_groups::this_grid().sync();
          out[0] = 1;
        }""",
        shapes=" -> 1",
        launch=rc.LaunchConfig(2, 32),
    )
    cpu = jax.default_device(jax.devices("cpu")[0])
    with cpu, pytest.raises(jax.errors.JaxRuntimeError, match="k: trap in thread"):
        jax.block_until_ready(kernel())
