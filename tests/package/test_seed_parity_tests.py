"""The tests of the raw-session model itself, one by one."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.seed_parity import x as x

import jax_rawcuda as rc
from jax_rawcuda import _ffi
from jax_rawcuda._compile.target import Target

ADD = """
extern "C" __global__ void add(const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i];
}"""
SIGNATURE = "add(const float* x, const float* y, float* out, int n)"
LIKE = jax.ShapeDtypeStruct((8,), jnp.float32)


pytestmark = pytest.mark.usefixtures("default_device")


def add(s, x, y, module):
    out = s.alloc_output(x.shape, x.dtype)
    config = rc.LaunchConfig.flat(x.size, 32)
    s.launch(module.function("add"), config, x, y, out, x.size)
    return out


def test_nvrtc_round_trip(x):
    @rc.op
    def compiled(s, x, y):
        return add(s, x, y, s.compile_nvrtc(ADD, rc.NvrtcOptions(std="c++17")))

    np.testing.assert_array_equal(compiled(x, 2 * x), x + 2 * x)


def test_ptx_round_trip(x):
    target = Target("cuda", "compute_90")
    ptx = rc.compile_nvrtc(ADD).function("add").image(target).data

    @rc.op
    def loaded(s, x, y):
        return add(s, x, y, s.load_ptx(ptx, signature=SIGNATURE))

    np.testing.assert_array_equal(loaded(x, 2 * x), x + 2 * x)


def test_a_block_of_no_threads_is_rejected_before_the_driver(x):
    launched = []

    @rc.op
    def empty_block(s, x):
        config = rc.LaunchConfig(grid=1, block=0)
        launched.append(config)
        return x

    before = _ffi.counters()
    with pytest.raises(rc.ValidationError, match="block"):
        empty_block(x)
    with pytest.raises(rc.ValidationError, match=r"LaunchConfig\.flat: block=0"):
        rc.LaunchConfig.flat(8, 0)
    assert launched == []
    assert _ffi.counters() == before


@pytest.mark.parametrize("cubin", [b"", b"garbage", b"\x7fELF" + bytes(60)])
def test_a_cubin_of_garbage_is_rejected(x, cubin):
    @rc.op
    def garbage(s, x):
        s.load_cubin(cubin)
        return x

    with pytest.raises(rc.ValidationError, match=r"load_cubin: these .* not a cubin"):
        garbage(x)


def test_stream_and_identity_are_exposed(x):
    found = {}

    @rc.op
    def look(s, x):
        found.update(stream=s.stream(), identity=s.runtime_identity)
        return x

    look(x)
    assert isinstance(found["stream"], rc.StreamRef)
    assert isinstance(found["identity"], rc.RuntimeIdentity)


def current_context():
    from cuda.bindings import driver

    error, context = driver.cuCtxGetCurrent()
    assert error == driver.CUresult.CUDA_SUCCESS
    return int(context)


@pytest.mark.gpu
def test_the_context_is_restored(x):
    @rc.op
    def good(s, x):
        return add(s, x, x, s.compile_nvrtc(ADD))

    @rc.op
    def failing(s, x):
        raise ValueError("of the callback")

    @rc.live_op(out=LIKE)
    def failing_live(s, x, out):
        raise ValueError("of the live callback")

    with jax.default_device(jax.devices("gpu")[0]):
        jax.block_until_ready(jnp.zeros(1))
        before = current_context()
        np.testing.assert_array_equal(good(x), x + x)
        assert current_context() == before
        with pytest.raises(ValueError, match="of the callback"):
            failing(x)
        assert current_context() == before
        with pytest.raises(jax.errors.JaxRuntimeError, match="of the live callback"):
            jax.block_until_ready(failing_live(x))
        assert current_context() == before
        np.testing.assert_array_equal(good(x), x + x)


def test_outputs_and_bytes_are_allocated(x):
    @rc.op
    def allocate(s, x):
        space = s.alloc_bytes(64, fill=3)
        assert not space.is_empty
        assert space.byte_len == 64
        out = s.alloc_output((4, 4), jnp.int32)
        s.copy_bytes(out, space)
        return out

    np.testing.assert_array_equal(allocate(x), np.full((4, 4), 0x03030303, np.int32))


def test_the_capability_report(default_device):
    report = rc.capabilities(default_device)
    assert report.warp_size == 32
    assert report.max_grid == (2**31 - 1, 65535, 65535)
    assert report.cooperative_launch


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.complex64])
def test_a_span_is_as_long_as_its_bytes(dtype):
    x = np.zeros((3, 5), dtype)
    lengths = []

    @rc.op
    def measure(s, x):
        lengths.append(
            (x.byte_len, x[1:].byte_len, x[2].byte_len, x.at_bytes(4).nbytes)
        )
        return x

    measure(x)
    row = x[0].nbytes
    assert lengths == [(3 * row, 2 * row, row, 3 * row - 4)]


def test_a_retained_tensor_keeps_its_memory(x):
    kept = []

    @rc.live_op(out=LIKE)
    def retain(s, x, out):
        kept.append(s.retain_tensor(x))
        s.fill_bytes(out, 0)

    @rc.live_op(out=LIKE)
    def again(s, x, out):
        s.copy_bytes(out, s.tensor(kept[0]))

    jax.block_until_ready(retain(x))
    for i in range(3):
        np.testing.assert_array_equal(again(x + i), x)


def test_a_resource_is_made_once(x):
    made = []

    @rc.live_op(out=LIKE)
    def with_resource(s, x, out):
        value = s.resource("seed parity", lambda: made.append(1) or len(made))
        assert value == 1
        s.copy_bytes(out, x)

    for _ in range(3):
        np.testing.assert_array_equal(with_resource(x), x)
    assert made == [1]
