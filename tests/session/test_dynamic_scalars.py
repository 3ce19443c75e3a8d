"""By-value parameters of a launch that are read from memory when the kernel starts."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc

MODULE = rc.compile_nvrtc(r"""
extern "C" __global__ void scale(const float* x, float a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i];
}
extern "C" __global__ void total(const float* x, float* sum, int n) {
  float all = 0.0f;
  for (int i = 0; i < n; i++) all += x[i];
  sum[0] = all;
}
extern "C" __global__ void count(const float* x, float least, int* found, int n) {
  int all = 0;
  for (int i = 0; i < n; i++) all += x[i] >= least;
  found[0] = all;
}
extern "C" __global__ void set_if(const float* x, float* held) {
  if (x[0] > 0.0f) held[1] = x[0];
}
struct Step { double shift; float scale; bool on; };
extern "C" __global__ void make_step(const float* x, Step* step) {
  *step = {x[0], x[1], true};
}
extern "C" __global__ void apply(Step step, const float* x, float4 lanes, float2 pair,
                                 float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float* lane = &lanes.x;
  if (i < n && step.on) {
    out[i] = (float)step.shift + step.scale * x[i] * lane[i % 4] + pair.x - pair.y;
  }
}
enum class Mode : short { kKeep, kNegate };
extern "C" __global__ void moded(const float* x, Mode mode, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = mode == Mode::kNegate ? -x[i] : x[i];
}
""")
N = 13
ONE = rc.LaunchConfig(1, 1)
FLAT = rc.LaunchConfig.flat(N, 32)


def function(name):
    return MODULE.function(name)


@pytest.fixture
def device(default_device):
    return default_device


@pytest.fixture
def x(rng):
    return rng.normal(size=N).astype(np.float32)


def scaled(s, x, a):
    out = s.alloc_output(x.shape, x.dtype)
    s.launch(function("scale"), FLAT, x, a, out, N)
    return out


scale_op = rc.op(scaled, name="scale_op")


def test_an_operand(device, x):
    a = np.float32(0.75)
    for f in (scale_op, jax.jit(scale_op)):
        np.testing.assert_array_equal(f(x, a), a * x)


def test_an_element_of_an_operand(device, x, rng):
    factors = rng.normal(size=(3, 2)).astype(np.float32)

    @rc.op
    def f(s, x, factors):
        return [scaled(s, x, factors[i][1]) for i in range(3)]

    got = f(x, factors)
    np.testing.assert_array_equal(got, factors[:, 1:] * x)


def test_what_the_op_closes_over(device, x):
    def run(a):
        @rc.op
        def f(s, x):
            for _ in range(3):
                x = scaled(s, x, a)
            assert len(s.operands) == 2  # one for all launches
            return x

        return f(x)

    want = x
    for _ in range(3):
        want = np.float32(0.5) * want
    np.testing.assert_array_equal(run(jnp.float32(0.5)), want)
    np.testing.assert_array_equal(jax.jit(run)(np.float32(0.5)), want)
    np.testing.assert_array_equal(jax.jit(run)(0.5), want)  # weak
    np.testing.assert_array_equal(run(jnp.asarray(0.5)), want)


@pytest.mark.parametrize("kind", ["output", "workspace", "slice"])
def test_what_an_earlier_launch_wrote(device, x, kind):
    @rc.op
    def normalized(s, x):
        if kind == "output":
            sum_, shown = (s.alloc_output((), jnp.float32),) * 2
        elif kind == "workspace":
            sum_, shown = s.alloc_bytes(4), None
        else:
            sum_, shown = s.alloc_bytes(64)[8:12], None
        s.launch(function("total"), ONE, x, sum_, N)
        out = scaled(s, x, sum_)
        return out if shown is None else (out, shown)

    got = jax.tree.leaves(jax.jit(normalized)(x))
    np.testing.assert_allclose(got[0], x.sum() * x, rtol=1e-5)
    batch = np.stack([x, x + 1, x - 3])
    got = jax.tree.leaves(jax.jit(jax.vmap(normalized))(batch))
    want = batch.sum(1, keepdims=True) * batch
    np.testing.assert_allclose(got[0], want, rtol=1e-4)


def test_in_place(device, x):
    @rc.op
    def f(s, sum_, x):
        before = scaled(s, x, sum_)
        sum_ = s.tensor_mut(sum_)
        s.launch(function("total"), ONE, x, sum_, N)
        return before, scaled(s, x, sum_), sum_

    before, after, sum_ = jax.jit(f)(np.float32(2), x)
    np.testing.assert_array_equal(before, 2 * x)
    np.testing.assert_array_equal(after, np.asarray(sum_) * x)
    np.testing.assert_allclose(sum_, x.sum(), rtol=1e-5)


RECORD = np.dtype([("shift", "f8"), ("scale", "f4"), ("on", "?")], align=True)


def applied(s, step, x, lanes, pair):
    out = s.alloc_output(x.shape, x.dtype, fill=0)
    s.launch(function("apply"), FLAT, step, x, lanes, pair, out, N)
    return out


def test_structs_and_vectors(device, x, rng):
    lanes = rng.normal(size=4).astype(np.float32)
    step = np.array((0.5, 2.0, True), RECORD)
    want = 0.5 + 2 * x * np.resize(lanes, N) + 3 - 4
    held = np.frombuffer(step.tobytes(), np.uint8)
    f = jax.jit(rc.op(applied))
    for pair in (np.float32([3, 4]), np.complex64(3 + 4j)):
        np.testing.assert_allclose(f(held, x, lanes, pair), want, rtol=1e-5)
    batch = np.stack([lanes, 2 * lanes])
    got = jax.vmap(f, (None, None, 0, None))(held, x, batch, pair)
    np.testing.assert_allclose(got[0], want, rtol=1e-5)
    np.testing.assert_allclose(
        got[1], 0.5 + 4 * x * np.resize(lanes, N) - 1, rtol=1e-5, atol=1e-6
    )


def test_a_struct_that_a_kernel_made(device, x):
    @rc.op
    def f(s, x, lanes):
        step = s.alloc_bytes(RECORD.itemsize)
        s.launch(function("make_step"), ONE, x, step)
        return applied(s, step, x, lanes, np.float32([3, 4]))

    lanes = np.float32([1, 2, 3, 4])
    want = x[0] + x[1] * x * np.resize(lanes, N) - 1
    np.testing.assert_allclose(jax.jit(f)(x, lanes), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("platform", ["cpu", "cuda"])
def test_elements_of_a_batch_are_aligned_for_their_scalars(x, rng, platform):
    """A struct of eight-byte alignment in elements of 20 bytes."""
    steps = [np.array((i, 2.0, True), RECORD).tobytes() for i in range(3)]
    held = np.stack([np.frombuffer(bytes(data) + b"....", np.uint8) for data in steps])
    lanes, pair = np.float32([1, 2, 3, 4]), np.zeros(2, np.float32)

    @rc.op
    def f(s, held, x):
        return applied(s, held[:16], x, lanes, pair)

    mapped = jax.jit(jax.vmap(f, (0, None)))
    if platform == "cpu":
        want = np.arange(3, dtype=np.float32)[:, None] + 2 * x * np.resize(lanes, N)
        np.testing.assert_allclose(mapped(held, x), want, rtol=1e-5, atol=1e-6)
    text = mapped.trace(held, x).lower(lowering_platforms=(platform,)).as_text()
    call = next(line for line in text.splitlines() if "custom_call" in line)
    assert "tensor<3x24xui8>" in call


def test_an_enum(device, x):
    @rc.op
    def f(s, x, mode):
        out = s.alloc_output(x.shape, x.dtype)
        s.launch(function("moded"), FLAT, x, mode, out, N)
        return out

    for mode in (np.int16(0), np.int16(1), np.uint16(1)):
        np.testing.assert_array_equal(jax.jit(f)(x, mode), [x, -x][int(mode)])
    text = r"is int32\[\], but .* needs int16\[\] or uint16\[\]\. Cast with mode\."
    with pytest.raises(rc.SignatureError, match=text):
        f(x, np.int32(0))


def test_kernels_inside_of_an_op(device, x):
    kernel = rc.kernel(MODULE, "scale", shapes="n -> n", threads="n")

    @rc.op
    def f(s, x, a):
        sum_ = s.alloc_output((), x.dtype)
        s.launch(function("total"), ONE, x, sum_, N)
        return kernel(kernel(x, a), sum_)

    a = np.float32(0.5)
    np.testing.assert_allclose(jax.jit(f)(x, a), x.sum() * (a * x), rtol=1e-5)
    stacked = np.stack([x, x + 1])
    got = jax.vmap(jax.vmap(f, (None, 0)), (0, None))(stacked, np.float32([0.5, 3]))
    want = (
        stacked.sum(1)[:, None, None] * np.float32([0.5, 3])[:, None] * stacked[:, None]
    )
    np.testing.assert_allclose(got, want, rtol=1e-4)


def test_an_empty_launch(device, x):
    @rc.op
    def f(s, x, a):
        out = s.alloc_output(x.shape, x.dtype, fill=2)
        s.launch(function("scale"), rc.LaunchConfig(0, 32), x, a, out, 0)
        return out

    np.testing.assert_array_equal(f(x, np.float32(3)), np.full(N, 2, np.float32))


def test_checked(x):
    @rc.op
    def f(s, x, a):
        sum_ = s.alloc_bytes(4)
        s.launch(function("total"), ONE, scaled(s, x, a), sum_, N)
        return scaled(s, x, sum_)

    with rc.checking():
        got = jax.jit(f)(x, np.float32(0.5))
        batched = jax.vmap(f, (None, 0))(x, np.float32([0.5, 2]))
    np.testing.assert_allclose(got, (np.float32(0.5) * x).sum() * x, rtol=1e-5)
    np.testing.assert_allclose(batched[1], (2 * x).sum() * x, rtol=1e-5)


def test_live(device, x):
    out = jax.ShapeDtypeStruct((N,), np.float32)

    @rc.live_op(out=out)
    def f(s, x, a, out):
        sum_ = s.alloc_bytes(4)
        s.launch(function("total"), ONE, x, sum_, N)
        half = s.alloc_output(x.shape, x.dtype)
        s.launch(function("scale"), FLAT, x, sum_, half, N)
        for i in range(2):
            s.launch(function("scale"), FLAT, half, a[i], out, N)

    factors = np.float32([3, 0.5])
    for f_ in (f, jax.jit(f)):
        got = f_(x, factors)
        np.testing.assert_allclose(got, factors[1] * x.sum() * x, rtol=1e-5)
    with rc.checking():
        np.testing.assert_allclose(f(x, factors), factors[1] * x.sum() * x, rtol=1e-5)


def test_live_with_a_jax_array(x):
    a = jnp.float32(2)

    @rc.live_op(out=jax.ShapeDtypeStruct((N,), np.float32))
    def f(s, x, out):
        s.launch(function("scale"), FLAT, x, a, out, N)

    with pytest.raises(Exception, match=r"f: operand 'a' is ArrayImpl; a live session"):
        jax.block_until_ready(f(x))


@pytest.mark.usefixtures("no_xla")
@pytest.mark.parametrize("begin", [4, 8, 56, 60])
def test_beside_what_the_launch_writes(x, begin):
    @rc.op
    def f(s, x):
        memory = s.alloc_bytes(64, fill=0)
        s.launch(function("scale"), FLAT, x, memory[begin : begin + 4], memory[8:60], N)
        return s.alloc_output(1, jnp.float32, fill=0)

    apart = begin in (4, 60)
    error = AssertionError if apart else rc.ValidationError
    text = "the primitive was bound" if apart else "which the same launch may write"
    with pytest.raises(error, match=text):
        f(x)


def test_a_scalar_that_the_kernel_before_did_not_write(x):
    @rc.op
    def f(s, x):
        held = s.alloc_bytes(8)
        s.launch(function("set_if"), ONE, x, held)
        return scaled(s, x, held[4:])

    positive = np.abs(x) + 1
    with rc.checking():
        np.testing.assert_array_equal(f(positive), positive[0] * positive)
        text = (
            r"scale: check failed: scalar 'a' is read from 'workspace0' \(8 bytes\) at "
            r"byte offset 4, where nothing has been written\. Write it in every case "
            r"before this launch\."
        )
        with pytest.raises(rc.CheckError, match=text):
            jax.block_until_ready(f(-positive))
