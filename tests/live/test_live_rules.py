"""Live sessions: what they give away, and how they fail."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc
from jax_rawcuda._live import program as _live_program

MODULE = rc.compile_nvrtc(r"""
extern "C" __global__ void scaled(const float* x, float* out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * x[i];
}
extern "C" __global__ void __launch_bounds__(64) bounded(float* out) { out[0] = 1; }
extern "C" __global__ void static_shared(float* out) {
  __shared__ float s[1024];
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void stop(float* out) {
  out[0] = 1;
  __trap();
}
""")
N = 100
X = np.random.default_rng(7).standard_normal(N, np.float32)
OUT = jax.ShapeDtypeStruct((N,), np.float32)


@pytest.fixture
def device(default_device):
    return default_device


def run(body, x=X, **options):
    """Runs `body(s, x, out)` as a live op named f and waits for it."""
    options.setdefault("out", OUT)
    result = rc.live_op(body, name="f", **options)(x)
    return jax.block_until_ready(result)


def failure(body, **options):
    """Runs `body` as a live op; returns the text of what the program raised."""
    with pytest.raises(jax.errors.JaxRuntimeError) as caught:
        run(body, **options)
    return str(caught.value)


def test_the_cpu_has_no_stream():
    with jax.default_device(jax.devices("cpu")[0]):
        text = failure(lambda s, _x, _out: s.stream().unsafe_raw_handle())
    assert "UnsupportedError: f: the CPU has no stream" in text
    assert 'Ask s.platform == "cuda" first.' in text


def test_numpy_shares_the_memory_on_the_cpu():
    def body(s, x, out):
        assert s.platform == "cpu"
        assert not np.asarray(x).flags.writeable
        assert np.asarray(x).ctypes.data == x.unsafe_raw_ptr()
        assert np.asarray(x[10:]).ctypes.data == x[10:].unsafe_raw_ptr()
        assert not hasattr(x, "__cuda_array_interface__")
        assert x.__dlpack_device__() == (1, 0)
        work = s.upload(X)
        for ref, array in ((x, X), (work, X), (work[3:9], X[3:9]), (s.tensor(X), X)):
            np.testing.assert_array_equal(np.from_dlpack(ref), array)
            np.testing.assert_array_equal(np.asarray(ref), array)
        np.asarray(out)[...] = np.from_dlpack(x)
        np.asarray(out[5:7])[...] = 0

    with jax.default_device(jax.devices("cpu")[0]):
        expected = X.copy()
        expected[5:7] = 0
        np.testing.assert_array_equal(run(body), expected)


def launch_bounded(s, _x, out):
    s.launch(MODULE.function("bounded"), rc.LaunchConfig(1, 128), out)


FAULTS = {
    "raises": (lambda *_: 1 / 0, "ZeroDivisionError: division by zero"),
    "returns": (lambda _, x, __: x, "f: returned TensorRef; a live op returns nothing"),
    "unwritten": (lambda *_: None, "f: result 'out' is never written"),
    "read only": (
        lambda s, x, _: s.fill_bytes(x, 0),
        "f: fill_bytes: TensorRef(x: float32[100]) is read only",
    ),
    "in place": (lambda s, x, _: s.tensor_mut(x), "Name the argument in in_out="),
    "not read": (
        lambda s, _, out: s.download_tensor(out),
        "f: download_tensor: nothing has written 'out' yet",
    ),
    "JAX array": (
        lambda s, *_: s.tensor(jnp.zeros(3)),
        "a live session takes NumPy arrays and RetainedTensors",
    ),
    "block": (launch_bounded, "128 threads"),
    "key": (lambda s, *_: s.resource([], list), "resource key [] is not hashable"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_errors_come_out_of_the_program(device, fault):
    body, text = FAULTS[fault]
    assert text in failure(body)
    # The next call is not affected.
    np.testing.assert_array_equal(run(lambda s, x, out: s.copy_bytes(out, x)), X)


def on_cpu(name, config):
    return lambda s, _, out: s.launch(MODULE.function(name), config, out)


ODD = rc.load_ptx(
    """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry odd(.param .u64 out) { wgmma.fence.sync.aligned; ret; }
""",
    signature="odd(float* out)",
)

RUN_TIME_FAULTS = {
    "limit": (
        on_cpu("static_shared", rc.LaunchConfig(1, 64, 232_448)),
        "ValidationError: static_shared: ",
    ),
    "instruction": (
        lambda s, _, out: s.launch(ODD.function("odd"), rc.LaunchConfig(1, 1), out),
        "UnsupportedError: ",
    ),
    "trap": (on_cpu("stop", rc.LaunchConfig(1, 1)), "BackendError: stop: "),
}


@pytest.mark.parametrize("fault", RUN_TIME_FAULTS)
def test_failures_of_a_launch_have_their_type(fault):
    body, text = RUN_TIME_FAULTS[fault]
    with jax.default_device(jax.devices("cpu")[0]):
        assert text in failure(body)
        np.testing.assert_array_equal(run(lambda s, x, out: s.copy_bytes(out, x)), X)


def test_programs_of_commands_are_bounded(monkeypatch):
    monkeypatch.setattr(_live_program, "_MAX_PROGRAMS", 3)
    programs = _live_program._Programs()
    monkeypatch.setattr(_live_program, "_programs", programs)
    source = "__global__ void add(const float* x, float a, float* out) {{ {} }}"
    modules = [rc.compile_nvrtc(source.format(f"out[{i}] = a;")) for i in range(3)]

    def body(s, x, out):
        s.fill_bytes(out, 0)
        for i, module in enumerate(modules):
            for a in range(1, 5):
                function = module.function("add")
                s.launch(function, rc.LaunchConfig(1, 1), x, float(a), out)
                assert s.download_tensor(out)[i] == a
                assert len(programs._entries) <= 3
                used = [m for p in programs._entries.values() for m in p.modules]
                assert programs._users == Counter(used)

    with jax.default_device(jax.devices("cpu")[0]):
        run(body)


def test_nothing_leaks(device):
    class Data:
        pass

    alive = []

    def body(s, x, out):
        data = Data()
        alive.append(weakref.ref(data))
        s.upload(X)
        s.copy_bytes(out, x)
        if len(alive) % 2:
            raise ValueError(f"no {data}")

    op = rc.live_op(body, out=OUT)
    for _ in range(10):
        try:
            jax.block_until_ready(op(X))
        except jax.errors.JaxRuntimeError as error:
            assert "ValueError: no <" in str(error)  # noqa: PT017
    gc.collect()
    assert len(alive) == 10
    assert not any(data() for data in alive)


def test_several_threads_run_live_ops_at_once(device):
    def body(s, x, out):
        work = s.alloc_output(x.shape, x.dtype)
        config = rc.LaunchConfig.flat(N, 64)
        s.launch(MODULE.function("scaled"), config, x, work, 3.0, N)
        s.copy_bytes(out, work)

    program = jax.jit(rc.live_op(body, out=OUT))
    wrong = []

    def work(seed):
        with jax.default_device(device):
            for turn in range(20):
                x = np.full(N, 100 * seed + turn, np.float32)
                if not np.array_equal(program(x), 3 * x):
                    wrong.append((seed, turn))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_retained_tensors_stay_where_they_are():
    kept = []

    def body(s, x, out):
        s.copy_bytes(out, x)
        kept.append(s.retain_tensor(x))

    run(body)
    for duplicate in (copy.copy, pickle.dumps):
        with pytest.raises(rc.SessionError, match=r"cannot be copied .* its numpy\(\)"):
            duplicate(kept[0])
    with pytest.raises(ValueError, match="can only have a copy"):
        np.array(kept[0], copy=False)
    kept[0].ordinal = 99
    text = r"RetainedTensor\(float32\[100\]\) is on another device than the session"
    with pytest.raises(jax.errors.JaxRuntimeError, match=text):
        run(lambda s, *_: s.tensor(kept[0]))
