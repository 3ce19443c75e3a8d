"""Live sessions: Python between kernels, on XLA's stream and memory."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import jax_rawcuda as rc

MODULE = rc.compile_nvrtc(r"""
extern "C" __global__ void scaled(const float* x, float* out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * x[i];
}
extern "C" __global__ void add_to(const float* x, float* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) total[i] += x[i];
}
extern "C" __global__ void block_sums(const float* x, float* out) {
  extern __shared__ float s[];
  s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
""")
N = 1000

scaled = rc.kernel(MODULE, "scaled", shapes="n -> n", threads="n")


def launch(s, name, count, *arguments):
    s.launch(MODULE.function(name), rc.LaunchConfig.flat(count, 64), *arguments)


@pytest.fixture
def device(default_device):
    return default_device


@pytest.fixture
def x():
    return np.random.default_rng(7).standard_normal(N, np.float32)


def like(x, *_, **__):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


@rc.live_op(out=like)
def shifted(s, x, out, *, by):
    """Adds on the host: through the host, what a vendor library would do in place."""
    s.copy_bytes(out, s.upload(s.download_tensor(x) + np.float32(by)))


def test_between_two_kernels(device, x):
    @jax.jit
    def program(x):
        return scaled(shifted(scaled(x, 3.0), by=1), 2.0)

    for _ in range(3):
        np.testing.assert_allclose(program(x), 2 * (3 * x + 1), rtol=1e-6)


def test_in_a_scan(device, x):
    def step(carry, row):
        carry = shifted(scaled(carry, 0.5), by=2)
        return carry, jnp.sum(carry + row)

    rows = np.random.default_rng(1).standard_normal((5, N), np.float32)
    last, sums = jax.jit(lambda x: jax.lax.scan(step, x, rows))(x)
    expected, expected_sums = x, []
    for row in rows:
        expected = expected * np.float32(0.5) + 2
        expected_sums.append(np.sum(expected + row))
    np.testing.assert_allclose(last, expected, rtol=1e-6)
    np.testing.assert_allclose(sums, expected_sums, rtol=1e-3)


def test_commands_run_at_once(device, x):
    found = []

    @rc.live_op(out=like)
    def f(s, x, out):
        work = s.alloc_output(x.shape, x.dtype, fill=4)
        launch(s, "add_to", N, x, work, N)
        tail = s.alloc_bytes(16, fill=255)
        s.synchronize()
        found.append(s.download_tensor(work))
        found.append(s.download_tensor(tail[4:8]))
        launch(s, "scaled", N, work, out, -1.5, N)
        s.fill_bytes(out[:2], 0)

    expected = -1.5 * (x + 4)
    expected[:2] = 0
    np.testing.assert_allclose(f(x), expected, rtol=1e-6)
    np.testing.assert_allclose(found[0], x + 4)
    np.testing.assert_array_equal(found[1], np.full(4, 255, np.uint8))


def test_shared_memory_and_many_blocks(device):
    x = np.random.default_rng(3).standard_normal((500, 64), np.float32)

    @rc.live_op(out=lambda x: jax.ShapeDtypeStruct(x.shape[:1], x.dtype))
    def f(s, x, out):
        config = rc.LaunchConfig(grid=500, block=64, shared_mem_bytes=256)
        s.launch(MODULE.function("block_sums"), config, x, out)

    np.testing.assert_allclose(f(x), x.sum(1), rtol=1e-4, atol=1e-4)


def test_in_place(device, x):
    @rc.live_op(out=like, in_out="total")
    def f(s, x, total, out):
        assert isinstance(total, rc.TensorMut)
        launch(s, "add_to", N, x, total, N)
        launch(s, "scaled", N, total, out, 2.0, N)

    start = jnp.asarray(x) * 10
    total, out = jax.jit(f)(x, start)
    np.testing.assert_allclose(total, 11 * x, rtol=1e-5)
    np.testing.assert_allclose(out, 22 * x, rtol=1e-5)
    np.testing.assert_allclose(start, 10 * x)  # still needed here: XLA has copied it


def test_pytrees_and_results(device, x):
    @rc.live_op(out=lambda p, _: {"a": p["w"], "b": (p["v"],)}, in_out=("p",))
    def f(s, p, n, out):
        s.copy_bytes(out["a"], p["w"])
        s.copy_bytes(out["b"][0], p["v"])
        s.fill_bytes(p["w"], 0)
        assert n is None

    p = {"v": jnp.asarray(x[:10]), "w": jnp.asarray(x)}
    new, out = f(p, None)
    np.testing.assert_array_equal(new["w"], np.zeros(N))
    np.testing.assert_array_equal(new["v"], x[:10])
    np.testing.assert_array_equal(out["a"], x)
    np.testing.assert_array_equal(out["b"][0], x[:10])


DTYPES = ["bool", "int8", "uint32", "float16", "bfloat16", "float8_e4m3fn", "complex64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_passes(device, dtype):
    x = np.random.default_rng(2).integers(0, 2, (7, 3)).astype(dtype)
    seen = []

    @rc.live_op(out=like)
    def f(s, x, out):
        seen.append(s.download_tensor(x[2:4]))
        s.copy_bytes(out, x)

    np.testing.assert_array_equal(np.asarray(f(x)), x)
    np.testing.assert_array_equal(seen[0], x[2:4])
    assert seen[0].dtype == x.dtype == getattr(ml_dtypes, dtype, np.dtype(dtype))


def test_empty_arrays(device):
    @rc.live_op(out=like)
    def f(s, x, out):
        s.copy_bytes(out, x)
        assert s.download_tensor(x).shape == (0, 3)
        assert s.retain_tensor(x).numpy().shape == (0, 3)

    assert f(np.zeros((0, 3), np.float32)).shape == (0, 3)


def test_vmap(device):
    x = np.random.default_rng(4).standard_normal((3, N), np.float32)

    def f(s, x, out):
        launch(s, "scaled", x.size, x, out, 3.0, x.size)

    for method in ("sequential", "broadcast_all"):
        op = rc.live_op(f, out=like, vmap_method=method)
        np.testing.assert_allclose(jax.vmap(op)(x), 3 * x)


def test_derivatives_of_traced_calls_are_refused(x):
    program = jax.jit(lambda x: shifted(x, by=2))
    with pytest.raises(rc.UnsupportedError, match="shifted has no differentiation"):
        jax.jvp(program, [x], [x])


def test_static_arguments_are_told_apart(device, x):
    seen = []

    @rc.live_op(out=like)
    def f(s, x, out, *, k):
        seen.append(k)
        s.copy_bytes(out, x)

    values = [1, 1.0, True, 0.0, -0.0, (1, 2), (1.0, 2)]
    for k in values:
        f(x, k=k)
    assert list(map(repr, seen)) == list(map(repr, values))


def test_side_effects_run_without_results(device, x):
    seen = []

    @rc.live_op(has_side_effect=True)
    def log(s, x):
        seen.append(s.download_tensor(x).sum())

    @jax.jit
    def program(x):
        log(x)
        return x + 1

    program(x).block_until_ready()
    jax.effects_barrier()
    assert seen == [x.sum()]


def test_shard_map_knows_that_results_vary(device, x):
    mesh = jax.sharding.Mesh([device], "i")
    spec = jax.sharding.PartitionSpec("i")

    def mapped(out_specs):
        body = functools.partial(shifted, by=3)
        return jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=out_specs)

    np.testing.assert_allclose(mapped(spec)(x), x + 3, rtol=1e-6)
    with pytest.raises(ValueError, match="replicat"):
        mapped(jax.sharding.PartitionSpec())(x)


# Memory that outlives the op, or comes from elsewhere


def test_retained_tensors(device, x):
    kept = []

    @rc.live_op(out=like)
    def keep(s, x, out):
        kept.append(s.retain_tensor(x))
        launch(s, "scaled", N, x, out, 2.0, N)

    @rc.live_op(out=lambda: like(x))
    def add(s, out):
        launch(s, "add_to", N, s.upload(x), s.tensor_mut(kept[0]), N)
        s.copy_bytes(out, s.tensor(kept[0]))

    np.testing.assert_allclose(keep(x), 2 * x)
    np.testing.assert_array_equal(kept[0].numpy(), x)
    for turn in (2, 3, 4):
        np.testing.assert_allclose(add(), turn * x, rtol=1e-5)
    np.testing.assert_allclose(np.asarray(kept[0]), 4 * x, rtol=1e-5)
    assert (kept[0].shape, kept[0].nbytes) == ((N,), 4 * N)
    kept[0].close()
    with pytest.raises(rc.SessionError, match=r"used after close\(\)"):
        kept[0].unsafe_raw_ptr()
    assert "closed" in repr(kept[0])


def test_numpy_arrays_arrive_as_they_are(device):
    array = np.random.default_rng(8).standard_normal((6, 4)).T  # neither dense nor f32

    @rc.live_op(has_side_effect=True)
    def f(s):
        for ref in (s.tensor(array), s.upload(array)):
            np.testing.assert_array_equal(s.download_tensor(ref), array)
        assert s.download_tensor(s.upload(np.array(2.5))).shape == ()
        assert bytes(s.download_tensor(s.upload_bytes(b"abc"))) == b"abc"

    f()
    jax.effects_barrier()


def test_recorded_ops_run_in_a_live_session(device, x):
    @rc.op
    def twice(s, x):
        out = s.alloc_output(x.shape, x.dtype)
        launch(s, "scaled", x.size, x, out, 2.0, x.size)
        return out

    @rc.live_op(out=like)
    def f(s, x, out):
        s.copy_bytes(out, twice(x))

    np.testing.assert_allclose(f(x), 2 * x)
