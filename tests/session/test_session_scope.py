"""Where a session and its references can be used: in its op, in its thread."""

from __future__ import annotations

import threading

import jax.numpy as jnp
import numpy as np
import pytest
from support.fakes import SAXPY

import jax_rawcuda as rc

X = np.arange(6, dtype=np.float32)


def test_a_session_is_not_constructible():
    with pytest.raises(rc.SessionError, match=r"Decorate a function with rc\.op"):
        rc.Session()


def test_nothing_outlives_the_op():
    kept = []

    @rc.op
    def leak(s, x):
        out = s.alloc_output(x.shape, x.dtype, fill=0)
        kept.extend([s, x, out])
        return out

    leak(X)
    session, x, out = kept
    assert "closed" in repr(session)
    for use in (
        lambda: session.alloc_bytes(4),
        lambda: session.launch(SAXPY, rc.LaunchConfig(1, 1), x, x, 1.0, out, 1),
        lambda: session.copy_bytes(out, x),
        lambda: session.tensor(X),
        lambda: leak(x),
        session.synchronize,
        session.stream,
    ):
        with pytest.raises(rc.SessionError, match="leak: the session has ended"):
            use()


def test_another_session_refuses_references():
    @rc.op
    def outer(s, x):
        @rc.op
        def inner(t, y):
            t.copy_bytes(t.alloc_output(6, jnp.float32), x)

        return inner(X)

    with pytest.raises(rc.SessionError, match=r"belongs to another session \(outer\)"):
        outer(X)


def test_another_thread_is_refused():
    errors = []

    @rc.op
    def threaded(s, x):
        def work():
            try:
                s.alloc_bytes(4)
            except rc.SessionError as error:
                errors.append(str(error))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return s.alloc_output(1, x.dtype, fill=0)

    threaded(X)
    assert errors == [
        "threaded: the session belongs to the thread that traces the op. "
        "Record from that thread."
    ]


def test_an_error_inside_surfaces_and_closes():
    kept = []

    @rc.op
    def broken(s, x):
        kept.append(s)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        broken(X)
    with pytest.raises(rc.SessionError):
        kept[0].alloc_bytes(1)
