"""Where a session and its references can be used: in its op, in its thread.

The rules of recorded and of live sessions are the same.
"""

from __future__ import annotations

import copy
import pickle
import threading
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.fakes import SAXPY

import jax_rawcuda as rc

pytestmark = pytest.mark.usefixtures("default_device")

X = np.random.default_rng(7).standard_normal(6, np.float32)
OUT = jax.ShapeDtypeStruct(X.shape, X.dtype)


@dataclass(frozen=True)
class Kind:
    """A kind of session.

    Attributes:
      session: What users call it.
      maker: What makes functions that have one.
      thread: The thread that it belongs to, and what to do in it.
      error: What a SessionError becomes where the op does not catch it.
    """

    session: type
    maker: str
    thread: str
    error: type[Exception]

    def call(self, body):
        """Calls an op named f, with the body `body(s, x, out)` and zeros for `out`."""

        def recorded(s, x):
            out = s.alloc_output(x.shape, x.dtype, fill=0)
            body(s, x, out)
            return out

        def live(s, x, out):
            s.fill_bytes(out, 0)
            body(s, x, out)

        if self.maker == "op":
            return rc.op(recorded, name="f")(X)
        return jax.block_until_ready(rc.live_op(live, name="f", out=OUT)(X))

    def leak(self):
        """What an op has handed out and that has outlived it."""
        found = {}

        def body(s, x, out):
            found.update(s=s, x=x, out=out, stream=s.stream())

        self.call(body)
        return found


RECORDED = Kind(
    rc.Session, "op", "traces the op. Record from that thread.", rc.SessionError
)
LIVE = Kind(
    rc.LiveSession,
    "live_op",
    "runs the op. Use it from that thread.",
    jax.errors.JaxRuntimeError,
)


@pytest.fixture(params=[RECORDED, LIVE], ids=["recorded", "live"])
def kind(request):
    return request.param


ONE = rc.LaunchConfig(1, 1)
USES = {
    "workspace": lambda s, **_: s.alloc_bytes(4),
    "launch": lambda s, x, out, **_: s.launch(SAXPY, ONE, x, x, 1.0, out, 1),
    "copy": lambda s, x, out, **_: s.copy_bytes(out, x),
    "operand": lambda s, **_: s.tensor(X),
    "inner op": lambda x, **_: rc.op(lambda s, _: s.alloc_bytes(4))(x),
    "synchronize": lambda s, **_: s.synchronize(),
    "stream": lambda s, **_: s.stream(),
}
LIVE_USES = {
    "resource": lambda s, **_: s.resource("key", object),
    "address": lambda x, **_: x.unsafe_raw_ptr(),
    "array": lambda x, **_: np.asarray(x),
    "dlpack": lambda x, **_: x.__dlpack__(),
    "interface": lambda x, **_: x.__cuda_array_interface__,
    "handle": lambda stream, **_: stream.unsafe_raw_handle(),
}
EVERY_USE = pytest.mark.parametrize(
    ("kind", "use"),
    [
        *(pytest.param(RECORDED, use, id=f"recorded-{use}") for use in USES),
        *(pytest.param(LIVE, use, id=f"live-{use}") for use in USES | LIVE_USES),
    ],
)


@EVERY_USE
def test_nothing_works_after_the_op(kind, use):
    found = kind.leak()
    with pytest.raises(rc.SessionError, match=r"^f: the session has ended\. Use it, "):
        (USES | LIVE_USES)[use](**found)
    assert "closed" in repr(found["s"])


@EVERY_USE
def test_nothing_works_in_another_thread(kind, use):
    errors = []

    def body(s, x, out):
        found = {"s": s, "x": x, "out": out, "stream": s.stream()}

        def other():
            try:
                (USES | LIVE_USES)[use](**found)
            except rc.SessionError as error:
                errors.append(str(error))

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    np.testing.assert_array_equal(kind.call(body), 0 * X)
    assert errors == [f"f: the session belongs to the thread that {kind.thread}"]


def test_sessions_are_made_by_ops_only(kind):
    with pytest.raises(rc.SessionError) as caught:
        kind.session()
    assert str(caught.value) == (
        f"{kind.session.__name__}: cannot be made directly. Decorate a function with "
        f"rc.{kind.maker}; its first argument is the session."
    )


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_nothing_can_be_copied_or_pickled(kind, duplicate):
    def refuses(*given):
        for what in given:
            with pytest.raises(rc.SessionError, match="cannot be copied or pickled"):
                duplicate(what)

    kind.call(lambda s, x, out: refuses(s, x, out, s.stream()))
    refuses(*kind.leak().values())


def test_references_of_another_session_are_refused(kind):
    found = kind.leak()
    text = r"f: TensorRef\(x: float32\[6\]\) belongs to another session \(f\)"
    with pytest.raises(kind.error, match=text):
        kind.call(lambda s, _, out: s.copy_bytes(out, found["x"]))


def test_sessions_inside_of_each_other_are_two():
    @rc.op
    def outer(s, x):
        @rc.op
        def inner(t, y):
            t.copy_bytes(t.alloc_output(6, jnp.float32), x)

        return inner(X)

    with pytest.raises(rc.SessionError, match=r"belongs to another session \(outer\)"):
        outer(X)


def test_an_error_of_the_user_surfaces_and_leaves_nothing_behind(kind):
    found = []

    def failing(s, x, out):
        found.append(s)
        raise ZeroDivisionError("of the user")  # this line

    error = ZeroDivisionError if kind is RECORDED else kind.error
    with pytest.raises(error, match="of the user") as caught:
        kind.call(failing)
    if kind is RECORDED:
        assert str(caught.traceback[-1].statement).strip().endswith("# this line")
    with pytest.raises(rc.SessionError, match="the session has ended"):
        found[0].alloc_bytes(1)
    np.testing.assert_array_equal(kind.call(lambda *_: None), 0 * X)


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, rc.op], ids=["", "jit", "op"])
def test_an_error_while_recording_passes_through_what_surrounds_it(wrap):
    failing = True

    @rc.op
    def body(s, x):
        out = s.alloc_output(x.shape, x.dtype, fill=1)
        if failing:
            raise ZeroDivisionError("of the user")  # this line
        return out

    around = wrap(body) if wrap is not rc.op else rc.op(lambda _, x: body(x))
    with pytest.raises(ZeroDivisionError, match="of the user") as caught:
        around(X)
    assert str(caught.traceback[-1].statement).strip().endswith("# this line")
    failing = False
    np.testing.assert_array_equal(around(X), np.ones(6, np.float32))


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (jnp.asarray, "it has no values while the op is recorded"),
        (np.asarray, r"has no address while the op is recorded.*rc\.live_op"),
        (rc.TensorRef.unsafe_raw_ptr, r"has no address while the .*rc\.live_op"),
    ],
)
def test_references_have_no_values_while_an_op_is_recorded(use, message):
    def body(s, x, out):
        with pytest.raises(rc.SessionError, match=message):
            use(x)

    np.testing.assert_array_equal(RECORDED.call(body), 0 * X)


def test_streams_have_no_handle_while_an_op_is_recorded():
    def body(s, x, out):
        with pytest.raises(rc.SessionError, match=r"^f: a recorded session has no st"):
            s.stream().unsafe_raw_handle()
        assert not hasattr(s.stream(), "raw_handle")

    RECORDED.call(body)
