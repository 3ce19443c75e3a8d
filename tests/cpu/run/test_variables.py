"""Module variables on the CPU: one memory for all kernels of a module, as on a GPU."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc
from jax_rawcuda import cpu
from jax_rawcuda._compile.target import Target

LAUNCH = rc.LaunchConfig(1, 8)


def test_kernels_of_a_module_share_its_variables():
    module = rc.compile_nvrtc(r"""
    __device__ unsigned counter = 3;
    __device__ float row[8];
    __global__ void write(const float* x) {
      atomicAdd(&counter, 1u);
      row[threadIdx.x] = x[threadIdx.x];
    }
    __global__ void read(float* out) { out[threadIdx.x] = counter + row[threadIdx.x]; }
    __global__ void reset() { counter = 3; }
    """)

    @rc.op
    def through(s, x):
        out = s.alloc_output(x.shape, x.dtype)
        s.launch(module.function("reset"), rc.LaunchConfig(1, 1))
        s.launch(module.function("write"), LAUNCH, x)
        s.launch(module.function("read"), LAUNCH, out)
        return out

    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=8).astype(np.float32)
        np.testing.assert_array_equal(through(jnp.asarray(x)), np.float32(11) + x)


def test_modules_with_equal_code_are_one():
    def counter(comment, step=1):
        return rc.kernel(
            f"""__device__ int calls = 5; // {comment}
            __global__ void count(int* out) {{ *out = calls += {step}; }}""",
            out=jax.ShapeDtypeStruct((1,), np.int32),
            launch=rc.LaunchConfig(1, 1),
        )

    one, same, other = counter("one"), counter("other"), counter("one", step=2)
    assert [int(call()[0]) for call in (one, same, other, one)] == [6, 7, 7, 8]


def test_initialisers():
    read = rc.kernel(
        r"""
    namespace ns { __device__ double pi = 3.25; }
    __device__ short small[3] = {-1, 2, -32768};
    __device__ bool yes = true;
    __device__ float* here;
    __device__ float target[2] = {5, 7};
    __device__ float* second = &target[1];
    __device__ long long wide = -(1ll << 40);
    __device__ float zeros[4];
    __global__ void read(float* out) {
      out[0] = ns::pi;
      for (int i = 0; i < 3; ++i) out[1 + i] = small[i];
      out[4] = yes;
      out[5] = here == nullptr;
      out[6] = *second;
      out[7] = wide;
      out[8] = zeros[3];
    }""",
        out=np.zeros(9, np.float32),
        threads=1,
        block=1,
    )
    want = [3.25, -1, 2, -32768, 1, 1, 7, -(2.0**40), 0]
    np.testing.assert_array_equal(read(), np.asarray(want, np.float32))


def test_tables_of_functions():
    apply = rc.kernel(
        r"""
    __device__ float twice(float x) { return 2 * x; }
    __device__ float minus(float x) { return -x; }
    __device__ float (*const functions[2])(float) = {twice, minus};
    __device__ float (*chosen[2])(float) = {minus, twice};
    __global__ void apply(const float* x, float* out) {
      int i = threadIdx.x;
      out[i] = functions[i % 2](x[i]) + 100 * chosen[i / 4](x[i]);
    }""",
        shapes="8 -> 8",
        threads=8,
        block=8,
    )
    x = np.random.default_rng(1).integers(-9, 9, 8).astype(np.float32)
    first = np.where(np.arange(8) % 2, -x, 2 * x)
    second = np.where(np.arange(8) // 4, 2 * x, -x)
    np.testing.assert_array_equal(apply(jnp.asarray(x)), first + 100 * second)


def test_a_value_of_another_size_is_refused():
    module = rc.compile_nvrtc(
        "__device__ int size_probe[4]; __global__ void k(int* out) "
        "{ out[0] = size_probe[0]; }"
    )
    function = module.function("k")
    target = Target("cpu")
    ptx = function.image(target).data.decode()
    with pytest.raises(rc.UnsupportedError, match="size_probe has 16 bytes; its value"):
        cpu.load_kernel(ptx, function.lowered_name(target), {"size_probe": b"abc"})
