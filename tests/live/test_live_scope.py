"""Live sessions: who may use them, when, and where."""

from __future__ import annotations

import copy
import pickle
import threading

import jax
import numpy as np
import pytest

import jax_rawcuda as rc

N = 100
X = np.random.default_rng(7).standard_normal(N, np.float32)
OUT = jax.ShapeDtypeStruct((N,), np.float32)


@pytest.fixture
def device(default_device):
    return default_device


def run(body):
    """Runs `body(s, x, out)` as a live op named f and waits for it."""
    return jax.block_until_ready(rc.live_op(body, name="f", out=OUT)(X))


def leak(**found):
    def body(s, x, out):
        s.copy_bytes(out, x)
        found["s"], found["x"], found["stream"] = s, x, s.stream()

    run(body)
    return found


USES = {
    "session": lambda s, **_: s.alloc_bytes(4),
    "launch": lambda s, **_: s.synchronize(),
    "resource": lambda s, **_: s.resource("key", object),
    "reference": lambda x, **_: x.unsafe_raw_ptr(),
    "array": lambda x, **_: np.asarray(x),
    "dlpack": lambda x, **_: x.__dlpack__(),
    "interface": lambda x, **_: x.__cuda_array_interface__,
    "stream": lambda stream, **_: stream.unsafe_raw_handle(),
}


@pytest.mark.parametrize("use", USES)
def test_nothing_works_after_the_op(device, use):
    found = leak()
    with pytest.raises(rc.SessionError, match=r"^f: the session has ended"):
        USES[use](**found)
    assert "closed" in repr(found["s"])


@pytest.mark.parametrize("use", USES)
def test_nothing_works_in_another_thread(use):
    errors = []

    def body(s, x, out):
        s.copy_bytes(out, x)
        found = {"s": s, "x": x, "stream": s.stream()}

        def other():
            try:
                USES[use](**found)
            except rc.SessionError as error:
                errors.append(str(error))

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    run(body)
    (error,) = errors
    assert error.startswith("f: the session belongs to the thread that runs the op.")


def test_sessions_cannot_be_made_copied_or_pickled():
    with pytest.raises(rc.SessionError, match="LiveSession: cannot be made directly"):
        rc.LiveSession()
    for what in leak().values():
        for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(rc.SessionError, match="cannot be copied or pickled"):
                duplicate(what)


def test_references_of_another_session_are_refused():
    found = leak()
    text = "SessionError: f: TensorRef\\(x: float32\\[100\\]\\) belongs to another"
    with pytest.raises(jax.errors.JaxRuntimeError, match=text):
        run(lambda s, _x, out: s.copy_bytes(out, found["x"]))


def test_a_live_op_takes_no_references():
    live = rc.live_op(lambda *_: None, name="inner", out=OUT)

    @rc.op
    def outer(s, x):
        return live(x)

    with pytest.raises(rc.SessionError, match=r"inner: operand '_\[0\]' is TensorRef"):
        outer(X)


def test_recorded_references_have_no_address():
    @rc.op
    def f(s, x):
        for use in (lambda: x.unsafe_raw_ptr(), lambda: np.asarray(x)):
            with pytest.raises(rc.SessionError, match=r"has no address .*rc\.live_op"):
                use()
        return s.alloc_output(x.shape, x.dtype, fill=0)

    assert not f(X).any()


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


def test_a_live_op_cannot_be_exported():
    op = rc.live_op(lambda s, x, out: s.copy_bytes(out, x), name="f", out=OUT)
    with pytest.raises(NotImplementedError, match="host_callbacks"):
        jax.export.export(jax.jit(op))(X)
