"""The raw-session model, row by row: scope, identity, errors, caches."""

from __future__ import annotations

import copy
import pickle
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.seed_parity import x as x

import jax_rawcuda as rc

pytestmark = pytest.mark.usefixtures("default_device")


def test_the_scope_hands_out_the_only_session(x):
    """`with_raw`: a session is not made, kept, sent or copied by the user."""
    kept = []

    @rc.op
    def scoped(s, x):
        kept.append((s, x))
        return s.alloc_output(x.shape, x.dtype, fill=2)

    np.testing.assert_array_equal(scoped(x), np.full(8, 2, np.float32))
    session, ref = kept[0]
    with pytest.raises(rc.SessionError, match=r"^scoped: the session has ended"):
        session.alloc_bytes(8)
    with pytest.raises(rc.SessionError, match=r"^scoped: the session has ended"):
        session.copy_bytes(ref, ref)
    with pytest.raises(rc.SessionError, match="cannot be made directly"):
        rc.Session()


def test_identity_and_capabilities(x, default_device):
    """`runtime_identity` and the capability query."""
    found = []

    @rc.op
    def ask(s, x):
        found.append(s.runtime_identity)
        return x

    ask(x)
    assert found[0].jax == jax.__version__
    assert found[0].platform == jax.default_backend()
    capabilities = rc.capabilities(default_device)
    platform = "cuda" if default_device.platform == "gpu" else "cpu"
    assert capabilities.platform == platform
    assert capabilities.max_threads_per_block == 1024


def test_errors_are_typed():
    """Validation, runtime state and backend errors, all of one base."""
    bases = {
        rc.ValidationError: ValueError,
        rc.SignatureError: TypeError,
        rc.SessionError: RuntimeError,
        rc.UnsupportedError: NotImplementedError,
        rc.BackendError: RuntimeError,
        rc.CompileError: Exception,
    }
    for error, base in bases.items():
        assert issubclass(error, base)
        assert issubclass(error, rc.RawCudaError)
    assert (
        rc.BackendError("text", code="CUDA_ERROR_NO_DEVICE").code[:10] == "CUDA_ERROR"
    )


def test_caches_are_bounded_and_counted():
    """The bounded cache: counters, clearing, and nothing stored by what fails."""
    rc.clear_caches()
    before = rc.cache_stats()
    for _ in range(2):
        with pytest.raises(rc.CompileError, match="no_such_name"):
            rc.compile_nvrtc("__global__ void bad(int* x) { x[0] = no_such_name; }")
    assert rc.cache_stats().entries == before.entries == 0
    assert rc.cache_stats().clears >= 1
    text = f"__global__ void good(int* x) {{ x[0] = {before.clears}; }}"
    assert len(rc.compile_nvrtc(text).function().signature.parameters) == 1
    assert rc.cache_stats().misses > before.misses


# What the model's compiler refuses: here it is an error when it is tried.


def attempt(use, x):
    """Runs `use` on a session, inside of its op; returns what it raises."""
    found = []

    @rc.op
    def inside(s, x):
        try:
            use(s, x)
        except rc.RawCudaError as error:
            found.append(error)
        return s.alloc_output(x.shape, x.dtype, fill=0)

    np.testing.assert_array_equal(inside(x), 0 * x)
    return found[0] if found else None


def in_a_thread(use):
    def run(s, x):
        errors = []

        def work():
            try:
                use(s, x)
            except rc.RawCudaError as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        for error in errors:
            raise error

    return run


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (in_a_thread(lambda s, _: s.alloc_bytes(8)), "belongs to the thread that trac"),
        (in_a_thread(lambda s, x: s.copy_bytes(x, x)), "belongs to the thread that t"),
        (in_a_thread(lambda s, _: s.stream()), "belongs to the thread that traces"),
        (lambda s, _: pickle.dumps(s), "a session cannot be copied or pickled"),
        (lambda s, _: copy.copy(s), "a session cannot be copied or pickled"),
        (lambda s, _: copy.deepcopy(s), "a session cannot be copied or pickled"),
        (lambda _, x: pickle.dumps(x), "cannot be copied or pickled"),
        (lambda _, x: copy.deepcopy(x), "cannot be copied or pickled"),
        (lambda s, _: pickle.dumps(s.stream()), "a stream cannot be copied or pick"),
        (lambda s, _: type(s)(), "Session: cannot be made directly. Decorate a fun"),
        (lambda _, x: jnp.asarray(x), "it has no values while the op is recorded"),
        (lambda _, x: np.asarray(x), "has no address while the op is recorded"),
        (lambda _, x: x.unsafe_raw_ptr(), "has no address while the op is recorded"),
        (lambda s, _: s.stream().unsafe_raw_handle(), "has no stream handle"),
        (lambda *_: rc.capabilities(0), "it needs one of jax.devices()"),
    ],
)
def test_what_the_scope_forbids(x, use, message):
    error = attempt(use, x)
    assert message in str(error)


def test_nothing_made_in_one_session_works_in_another(x):
    kept = []

    @rc.op
    def first(s, x):
        kept.append(s.alloc_bytes(32, fill=0))
        return x

    @rc.op
    def second(s, x):
        out = s.alloc_output(x.shape, x.dtype)
        s.copy_bytes(out, kept[0])
        return out

    first(x)
    with pytest.raises(rc.SessionError, match=r"belongs to another session \(first\)"):
        second(x)


def test_a_failing_callback_leaves_nothing_behind(x):
    """The user's error, at the user's line; the next call starts from nothing."""
    failing = True

    @rc.op
    def body(s, x):
        out = s.alloc_output(x.shape, x.dtype, fill=1)
        if failing:
            raise ZeroDivisionError("of the user")  # this line
        return out

    @rc.op
    def outer(s, x):
        return body(x)

    for op in (body, outer, jax.jit(lambda x: body(x))):
        with pytest.raises(ZeroDivisionError, match="of the user") as caught:
            op(x)
        assert str(caught.traceback[-1].statement).strip().endswith("# this line")
    failing = False
    for op in (body, outer, jax.jit(lambda x: body(x))):
        np.testing.assert_array_equal(op(x), np.ones(8, np.float32))
