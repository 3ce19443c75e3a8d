"""Sessions with several kernels, workspaces, in-place operands, fills and copies."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc

MODULE = rc.compile_nvrtc(r"""
extern "C" __global__ void scaled(const float* __restrict__ x,  // f32[n]
                                  float* __restrict__ out,      // f32[n]
                                  float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * x[i];
}

extern "C" __global__ void add_to(const float* __restrict__ x,  // f32[n]
                                  float* total,                 // f32[n], in place
                                  int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) total[i] += x[i];
}

extern "C" __global__ void row_sums(const float* __restrict__ x,  // f32[rows, cols]
                                    float* sums,                  // f32[rows], added to
                                    int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) atomicAdd(&sums[i / cols], x[i]);
}

extern "C" __global__ void centre(const float* __restrict__ x,     // f32[rows, cols]
                                  const float* __restrict__ sums,  // f32[rows]
                                  float* __restrict__ out,         // f32[rows, cols]
                                  int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) out[i] = x[i] - sums[i / cols] / cols;
}

struct Pair { short a; double b; };
__global__ void scalars(unsigned u32, int i32, unsigned long long u64, long long i64,
                        float f32, double f64, __half f16, __nv_bfloat16 bf16,
                        bool flag, Pair pair,
                        double* out) {  // f64[11]
  double all[] = {double(u32), double(i32), double(u64), double(i64), f32, f64,
                  double(float(f16)), double(float(bf16)), double(flag),
                  double(pair.a), pair.b};
  for (int i = 0; i < 11; ++i) out[i] = all[i];
}
""")


def launch(s, name, count, *arguments):
    s.launch(MODULE.function(name), rc.LaunchConfig.flat(count, 64), *arguments)


@pytest.fixture
def device(default_device):
    return default_device


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@rc.op
def centred(s: rc.Session, x):
    """Subtracts each row's mean: two kernels and a zeroed workspace."""
    rows, cols = x.shape
    sums = s.alloc_bytes(4 * rows, fill=0)
    out = s.alloc_output(x.shape, x.dtype)
    launch(s, "row_sums", rows * cols, x, sums, rows, cols)
    launch(s, "centre", rows * cols, x, sums, out, rows, cols)
    return out


def test_several_kernels_and_a_workspace(device, rng):
    x = rng.standard_normal((7, 33), np.float32)
    got = jax.jit(lambda x: 2 * centred(x + 1))(x)
    np.testing.assert_allclose(got, 2 * (x - x.mean(1, keepdims=True)), atol=1e-5)


def test_workspace_is_zeroed_on_every_run(device, rng):
    x = rng.standard_normal((7, 33), np.float32)
    got = jax.jit(lambda x: jax.lax.fori_loop(0, 5, lambda _, c: centred(c) + 1, x))(x)
    np.testing.assert_allclose(got, x - x.mean(1, keepdims=True) + 1, atol=1e-5)


def test_vmap_of_a_session(device, rng):
    x = rng.standard_normal((3, 4, 5, 6), np.float32)
    got = jax.jit(jax.vmap(jax.vmap(centred)))(x)
    np.testing.assert_allclose(got, x - x.mean(-1, keepdims=True), atol=1e-5)


def test_in_place_operand(device, rng):
    @rc.op
    def accumulate(s, x, total):
        total = s.tensor_mut(total)
        launch(s, "add_to", x.size, x, total, x.size)
        launch(s, "add_to", x.size, x, total, x.size)
        return total

    x, total = rng.standard_normal((2, 100), np.float32)
    got, kept = jax.jit(lambda x, t: (accumulate(x, t), t))(x, total)
    np.testing.assert_allclose(got, total + 2 * x, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(kept, total)


def test_filled_output_is_the_result_where_no_kernel_writes(device):
    @rc.op
    def filled(s, x):
        ones = s.alloc_output((5,), jnp.int32, fill=1)
        halves = s.alloc_output((2, 3), jnp.bfloat16, fill=1.5)
        zeros = s.alloc_output(x.shape, x.dtype, fill=0)
        launch(s, "add_to", 10, x, zeros, 10)
        return ones, [halves], zeros

    x = np.arange(40, dtype=np.float32)
    ones, (halves,), sums = jax.jit(filled)(x)
    np.testing.assert_array_equal(ones, np.ones(5, np.int32))
    np.testing.assert_array_equal(halves, np.full((2, 3), 1.5, jnp.bfloat16))
    np.testing.assert_array_equal(sums, np.where(x < 10, x, 0))


def test_copy_and_slices_of_a_workspace(device, rng):
    @rc.op
    def rotate(s, x):
        half = x.size // 2
        space = s.alloc_bytes(x.byte_len)
        out = s.alloc_output(x.shape, x.dtype)
        s.copy_bytes(space, x)
        launch(s, "scaled", half, space[4 * half :], out, 2.0, half)
        s.copy_bytes(out[half:], space[: 4 * half])
        return out

    x = rng.standard_normal(64, np.float32)
    got = jax.jit(rotate)(x)
    np.testing.assert_array_equal(got, np.concatenate([2 * x[32:], x[:32]]))


def test_uploaded_constant(device, rng):
    table = rng.standard_normal(33, np.float32)

    @rc.op
    def plus_table(s, x):
        total = s.tensor_mut(x)
        launch(s, "add_to", 33, s.upload_bytes(table.tobytes()), total, 33)
        return total

    x = rng.standard_normal(33, np.float32)
    np.testing.assert_allclose(jax.jit(plus_table)(x), x + table, rtol=1e-6)


def test_pytrees_in_and_out(device, rng):
    @rc.op
    def tree(s, parts, *, factor):
        result = {}
        for name, part in parts.items():
            result[name] = s.alloc_output(part.shape, part.dtype)
            launch(s, "scaled", part.size, part, result[name], factor, part.size)
        return {"scaled": result, "list": [result["a"]]}

    parts = {"a": rng.standard_normal(3, np.float32), "b": np.ones((2, 2), np.float32)}
    got = jax.jit(lambda parts: tree(parts, factor=4.0))(parts)
    np.testing.assert_array_equal(got["scaled"]["a"], 4 * parts["a"])
    np.testing.assert_array_equal(got["scaled"]["b"], 4 * parts["b"])
    np.testing.assert_array_equal(got["list"][0], 4 * parts["a"])


def test_a_session_may_wait_between_kernels(device, rng):
    @rc.op
    def waiting(s, x):
        out = s.alloc_output(x.shape, x.dtype)
        launch(s, "scaled", x.size, x, out, 3.0, x.size)
        s.synchronize()
        launch(s, "add_to", x.size, x, out, x.size)
        return out

    x = rng.standard_normal(50, np.float32)
    np.testing.assert_allclose(jax.jit(waiting)(x), 4 * x, rtol=1e-6)


def test_operand_returned_unchanged(device, rng):
    @rc.op
    def both(s, x):
        out = s.alloc_output(x.shape, x.dtype)
        launch(s, "scaled", x.size, x, out, 2.0, x.size)
        return x, out

    x = rng.standard_normal(50, np.float32)
    same, twice = jax.jit(both)(x)
    np.testing.assert_array_equal(same, x)
    np.testing.assert_array_equal(twice, 2 * x)


def test_an_op_is_a_jax_function(device, rng):
    x = rng.standard_normal((2, 3), np.float32)
    spec = jax.eval_shape(centred, jax.ShapeDtypeStruct((2, 3), jnp.float32))
    assert (spec.shape, spec.dtype) == ((2, 3), jnp.float32)
    eager = centred(x)
    assert eager.devices() == {device}
    np.testing.assert_array_equal(eager, jax.jit(centred)(x))


def test_zero_threads_launch_nothing(device):
    @rc.op
    def some(s, x, *, threads):
        out = s.alloc_output(x.shape, x.dtype, fill=-1)
        launch(s, "scaled", threads, x, out, 2.0, threads)
        return out

    x = np.arange(1, 9, dtype=np.float32)
    np.testing.assert_array_equal(some(x, threads=8), 2 * x)
    np.testing.assert_array_equal(some(x, threads=0), np.full(8, -1))


@pytest.mark.parametrize("explicit", [False, True])
def test_scalars_of_every_type(device, explicit):
    """Python numbers take the parameter's type; a KernelArg states one."""
    pair = np.array((-3, 0.25), np.dtype([("a", "i2"), ("b", "f8")], align=True))
    values = [2**32 - 1, -(2**31), 2**50, -(2**50), 0.5, 0.1, 1.5, 2.5]
    kinds = ["u32", "i32", "u64", "i64", "f32", "f64", "f16", "bf16"]
    arguments = [*values, True, pair]
    if explicit:
        arguments = [
            getattr(rc.KernelArg, kind)(value)
            for kind, value in zip(kinds, values, strict=True)
        ]
        arguments += [rc.KernelArg.scalar(b"\1"), rc.KernelArg.scalar(pair)]

    @rc.op
    def take(s):
        out = s.alloc_bytes(88)
        s.launch(MODULE.function("scalars"), rc.LaunchConfig(1, 1), *arguments, out)
        result = s.alloc_output(88, jnp.uint8)
        s.copy_bytes(result, out)
        return result

    got = np.asarray(take()).view(np.float64)
    np.testing.assert_array_equal(got, [*values, 1, -3, 0.25])
