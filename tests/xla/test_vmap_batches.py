"""vmap in one launch: alignment, pieces, workspaces, copies, fills, depth."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc
from jax_rawcuda._plan import schedule

MODULE = rc.compile_nvrtc(r"""
template <typename V, typename T, int W>
__global__ void doubled(const T* x, T* out, int n) {  // vectors of W elements
  for (int i = threadIdx.x * W; i + W <= n; i += blockDim.x * W) {
    V v = *reinterpret_cast<const V*>(x + i);
    *reinterpret_cast<V*>(out + i) = v;
  }
  for (int i = n / W * W + threadIdx.x; i < n; i += blockDim.x) out[i] = x[i];
}
extern "C" __global__ void add(const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i];
}
extern "C" __global__ void position(float* out) {  // of a grid with its own z
  int i = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  out[i] = 100 * blockIdx.z + 10 * blockIdx.y + blockIdx.x + 1000 * gridDim.z;
}
__device__ float kept;
extern "C" __global__ void keep(const float* x) { kept = *x; }
extern "C" __global__ void recall(float* out) { *out = kept; }
extern "C" __global__ void beyond(const float* x, float* out, int n) {
  int i = threadIdx.x;
  out[i] = x[i] > 0.5f ? x[n + 3] : x[i];
}
""")


@pytest.fixture
def device(default_device):
    return default_device


def add(x, y):
    kernel = rc.kernel(MODULE, "add", shapes="n, n -> n", threads="n", block=64)
    return kernel(x, y)


@pytest.mark.parametrize(
    ("vector", "dtype", "width"),
    [
        ("float4", "float32", 4),
        ("float2", "float32", 2),
        ("double2", "float64", 2),
        ("uint2", "uint8", 8),
        ("uint4", "uint8", 16),
        ("ushort4", "uint16", 4),
        ("unsigned", "uint8", 4),
    ],
)
@pytest.mark.parametrize("n", [10, 7, 3])
def test_elements_start_where_vectors_may(device, rng, x64, vector, dtype, width, n):
    """Rows whose bytes are no multiple of the widest access."""
    c_type = {"float32": "float", "float64": "double", "uint8": "unsigned char"}
    kernel = rc.kernel(
        MODULE,
        "doubled",
        shapes="n -> n",
        threads=32,
        block=32,
        template=(vector, c_type.get(dtype, "unsigned short"), width),
    )
    x = rng.integers(0, 200, (5, n)).astype(dtype)
    np.testing.assert_array_equal(jax.jit(jax.vmap(kernel))(x), x)
    nested = rng.integers(0, 200, (2, 3, n)).astype(dtype)
    np.testing.assert_array_equal(jax.vmap(jax.vmap(kernel))(nested), nested)


def test_batches_go_in_pieces(device, rng):
    x = rng.standard_normal((140_000, 3)).astype(np.float32)
    y = rng.standard_normal(3).astype(np.float32)
    got = jax.jit(jax.vmap(add, (0, None)))(x, y)
    np.testing.assert_array_equal(got, x + y)


def test_pieces_of_nested_batches(device, rng, monkeypatch):
    """Pieces that begin and end within rows of the batch."""
    monkeypatch.setattr(schedule, "_MAX_AT_ONCE", 7)
    x = rng.standard_normal((5, 3, 4)).astype(np.float32)
    y = rng.standard_normal((11, 4)).astype(np.float32)
    f = jax.vmap(jax.vmap(jax.vmap(add, (0, None)), (None, 0)), (0, None))
    got = jax.jit(f)(x, y)
    np.testing.assert_array_equal(got, x[:, None] + y[:, None])


@rc.op
def through_workspaces(s, x):
    """What each step leaves is of this element alone."""
    n, add = x.size, MODULE.function("add")
    config = rc.LaunchConfig.flat(n, 64)
    first, second = s.alloc_bytes(4 * n, fill=0), s.alloc_bytes(4 * n, align=128)
    out = s.alloc_output(x.shape, x.dtype, fill=0.25)
    s.launch(add, config, x, first, second, n)  # x
    s.copy_bytes(first, x)
    s.launch(add, config, first, second, second.at_bytes(0), n)  # 2 x
    s.copy_bytes(first[: 4 * n], second, 4 * n)
    s.launch(add, config, first, out, out[:], n)  # 2 x + 1/4
    s.fill_bytes(first, 255)
    return out


@pytest.mark.parametrize("at_once", [65535, 4, 1])
@pytest.mark.parametrize("n", [6, 64])
def test_workspaces_copies_and_fills(device, rng, monkeypatch, at_once, n):
    monkeypatch.setattr(schedule, "_MAX_AT_ONCE", at_once)
    x = rng.standard_normal((3, 9, n)).astype(np.float32)
    want = 2 * x + np.float32(0.25)
    np.testing.assert_array_equal(jax.jit(jax.vmap(through_workspaces))(x[0]), want[0])
    nested = jax.jit(jax.vmap(jax.vmap(through_workspaces)))
    np.testing.assert_array_equal(nested(x), want)


def test_workspaces_bound_the_piece(monkeypatch):
    monkeypatch.setattr(schedule, "_MAX_WORKSPACE", 10_000)
    x = jax.ShapeDtypeStruct((100, 64), np.float32)
    (report,) = rc.inspect(jax.vmap(through_workspaces), x)
    assert report.at_once == 10_000 // (256 + 256)
    assert report.workspace_bytes < 11_000


def test_an_operand_without_the_axis_is_copied_for_each(device, rng):
    @rc.op
    def pair(s, x, y):
        out = s.alloc_output((2, *x.shape), x.dtype)
        s.copy_bytes(out[0], x)
        s.copy_bytes(out[1], y)
        return out

    x, y = rng.standard_normal((4, 5)), rng.standard_normal(5)
    x, y = x.astype(np.float32), y.astype(np.float32)
    got = jax.jit(jax.vmap(pair, (0, None)))(x, y)
    want = np.stack([x, np.broadcast_to(y, x.shape)], 1)
    np.testing.assert_array_equal(got, want)


def test_a_grid_with_its_own_z(device):
    grid = (3, 2, 4)
    out = jax.ShapeDtypeStruct((24,), np.float32)
    config = rc.LaunchConfig(grid, 1)

    @rc.op
    def run(s, x):
        result = s.alloc_output(out.shape, out.dtype)
        s.launch(MODULE.function("position"), config, result)
        return result

    z, y, x = np.mgrid[:4, :2, :3]
    want = (100 * z + 10 * y + x + 4000).ravel()
    got = jax.jit(jax.vmap(run))(jnp.ones(5))
    np.testing.assert_array_equal(got, np.broadcast_to(want, (5, 24)))


def test_what_an_element_leaves_in_a_variable(device, rng):
    """Each element passes all commands before the next."""

    @rc.op
    def run(s, x):
        out = s.alloc_output((), x.dtype)
        s.launch(MODULE.function("keep"), rc.LaunchConfig(1, 1), x)
        s.launch(MODULE.function("recall"), rc.LaunchConfig(1, 1), out)
        return out

    x = rng.standard_normal(5).astype(np.float32)
    np.testing.assert_array_equal(jax.jit(jax.vmap(run))(x), x)
    (report,) = rc.inspect(jax.vmap(run), x, platform="cuda")
    assert report.at_once == 1
    assert all("kept" in launch.reason for launch in report.launches)


def test_no_elements(device):
    got = jax.jit(jax.vmap(add))(jnp.ones((0, 4)), jnp.ones((0, 4)))
    assert got.shape == (0, 4)


def test_many_axes_that_lie_alike_are_one(device, rng):
    x = rng.standard_normal((1, 2) * 12 + (3,)).astype(np.float32)
    f = add
    for _ in range(24):
        f = jax.vmap(f)
    np.testing.assert_array_equal(jax.jit(f)(x, x), x + x)


def test_too_many_axes_are_refused_while_tracing():
    x, y, f = jnp.ones((2,) * 9 + (3,)), jnp.ones((2,) * 8 + (3,)), add
    for depth in range(17):
        f = jax.vmap(f, (None, 0) if depth % 2 else (0, None))
    with pytest.raises(rc.ValidationError) as caught:
        jax.make_jaxpr(f)(x, y)
    assert str(caught.value) == (
        "add: 17 nested vmaps that batch different operands; 16 are possible. "
        "Broadcast the operands of some, so that they batch the same ones."
    )


def test_a_report_names_the_element(rng):
    """In checked mode, on the CPU."""
    function = MODULE.function("beyond")

    @rc.op
    def run(s, x):
        out = s.alloc_output(x.shape, x.dtype)
        s.launch(function, rc.LaunchConfig(1, x.size), x, out, x.size)
        return out

    x = rng.uniform(0, 0.4, (6, 8)).astype(np.float32)
    with rc.checking():
        np.testing.assert_array_equal(jax.vmap(run)(x), x)
        x[4, 2] = 0.75
        with pytest.raises(
            rc.CheckError,
            match=r"beyond.*thread \(2.*"
            r"This was batch element 4 of 6\.",
        ):
            jax.vmap(run)(x)
