"""What a session records, and the values of commands that need no kernel."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.fakes import SAXPY, FakeFunction

import jax_rawcuda as rc
from jax_rawcuda._plan.commands import Copy, Fill, Launch, Space

X = np.arange(6, dtype=np.float32)


def plan_of(function, *args, **static):
    """The plan that an op records for these arguments."""
    op = function if isinstance(function, rc.Op) else rc.op(function)
    jaxpr = jax.make_jaxpr(lambda *args: op(*args, **static))(*args)
    (equation,) = [e for e in jaxpr.eqns if "plan" in e.params]
    return equation.params["plan"]


def record_saxpy(s, x, y):
    out = s.alloc_output(x.shape, x.dtype)
    s.launch(SAXPY, rc.LaunchConfig.flat(x.size), x, y, 2.0, out, x.size)
    return out


# What a plan holds


def test_a_launch():
    plan = plan_of(record_saxpy, X, X)
    assert plan.op_name == "record_saxpy"
    assert [t.shape for t in plan.operands] == [(6,), (6,)]
    assert plan.workspaces == ()
    (launch,) = plan.commands
    assert isinstance(launch, Launch)
    x, y, a, out, n = launch.arguments
    assert (x.ref.space, x.ref.index) == (Space.OPERAND, 0)
    assert (y.ref.space, y.ref.index) == (Space.OPERAND, 1)
    assert (out.ref.space, out.ref.index) == (Space.RESULT, 0)
    assert (a.data, n.data) == (b"\0\0\0@", b"\6\0\0\0")


def test_results_come_first_then_workspaces():
    def body(s, x):
        space = s.alloc_bytes(32, fill=1)
        unused = s.alloc_output(3, jnp.int8, fill=0)
        second = s.alloc_output(x.shape, x.dtype, fill=0)
        first = s.alloc_output((2, 2), jnp.int32, fill=-1)
        s.copy_bytes(second, space[:24])
        assert unused.size == 3
        return first, [second, first]

    plan = plan_of(body, X)
    assert [t.shape for t in plan.results] == [(2, 2), (6,)]
    assert plan.workspaces == (32, 3)
    places = [(c.destination.index, c.nbytes) for c in plan.commands]
    assert places == [(2, 32), (3, 3), (1, 24), (0, 16), (1, 24)]
    copy = plan.commands[-1]
    assert isinstance(copy, Copy)
    assert (copy.source.index, copy.source.offset) == (2, 0)


def test_in_place_use_aliases_operand_and_result():
    def body(s, x, y):
        y = s.tensor_mut(y)
        assert s.tensor_mut is not None
        s.fill_bytes(y[2:4], 255)
        return y

    plan = plan_of(body, X, X)
    assert plan.aliases == ((1, 0),)
    (fill,) = plan.commands
    assert isinstance(fill, Fill)
    assert (fill.destination.space, fill.destination.offset) == (Space.RESULT, 8)
    assert (fill.nbytes, fill.width, fill.value) == (8, 1, 255)


def test_an_unreturned_in_place_operand_is_still_a_result():
    def body(s, x):
        s.fill_bytes(s.tensor_mut(x), 0)
        return s.alloc_output((), x.dtype, fill=1)

    plan = plan_of(body, X)
    assert plan.aliases == ((0, 1),)
    assert jax.eval_shape(rc.op(body), X).shape == ()


def test_an_operand_may_be_returned():
    def body(s, x):
        return {"same": x, "new": s.alloc_output(x.shape, x.dtype, fill=0)}

    got = jax.eval_shape(rc.op(body), X)
    assert got["same"].shape == got["new"].shape == (6,)
    assert len(plan_of(body, X).results) == 1


@pytest.mark.parametrize(
    ("dtype", "fill", "width", "value"),
    [
        ("bool", True, 1, 1),
        ("int8", -1, 1, 0xFF),
        ("float16", 1.0, 2, 0x3C00),
        ("bfloat16", 1.0, 2, 0x3F80),
        ("float32", 1.0, 4, 0x3F800000),
        ("complex64", 0, 4, 0),
    ],
)
def test_fill_values(dtype, fill, width, value):
    plan = plan_of(lambda s: s.alloc_output(4, dtype, fill=fill))
    (command,) = plan.commands
    assert (command.width, command.value) == (width, value)


def test_a_wide_fill_is_a_copy_of_a_constant():
    plan = plan_of(lambda s: s.alloc_output(4, jnp.complex64, fill=1.0))
    (command,) = plan.commands
    assert isinstance(command, Copy)
    assert command.nbytes == 32


def test_extra_operands():
    weights = jnp.ones(3)

    def body(s, x):
        out = s.alloc_output(3, jnp.float32)
        s.copy_bytes(out, s.tensor(weights))
        s.copy_bytes(out[:1], s.upload_bytes(b"abcd"))
        return out

    plan = plan_of(body, X)
    assert [t.dtype.name for t in plan.operands] == ["float32", "float32", "uint8"]


def test_an_empty_grid_is_not_launched():
    def body(s, x):
        out = s.alloc_output(x.shape, x.dtype)
        s.launch(SAXPY, rc.LaunchConfig.flat(x.size), x, x, 2.0, out, x.size)
        return out

    assert plan_of(body, np.zeros(0, np.float32)).commands == ()
    assert rc.op(body)(np.zeros(0, np.float32)).shape == (0,)


def test_a_null_pointer():
    take = FakeFunction("take(const float* x, float* out)")

    def body(s):
        out = s.alloc_output(4, jnp.float32)
        s.launch(take, rc.LaunchConfig(1, 4), None, out)
        return out

    (launch,) = plan_of(body).commands
    assert launch.arguments[0].data == bytes(8)


def test_ops_inline_into_the_callers_session():
    inner = rc.op(record_saxpy, name="inner")

    @rc.op
    def outer(s, x):
        return inner(inner(x, x), x)

    plan = plan_of(outer, X)
    assert plan.op_name == "outer"
    assert len(plan.commands) == 2
    assert len(plan.workspaces) == 1


def test_pytrees_name_their_leaves():
    @rc.op
    def tree(s, parts):
        s.launch(SAXPY, rc.LaunchConfig(1, 1), parts["a"], parts["b"], 1.0, None, 1)
        return s.alloc_output(1, jnp.float32, fill=0)

    good = np.zeros(1, np.float32)
    plan_of(tree, {"a": good, "b": good})
    with pytest.raises(rc.SignatureError, match=r"operand 'parts\['b'\]' is int32"):
        plan_of(tree, {"a": good, "b": np.zeros(1, np.int32)})


def test_references_are_views():
    def body(s, x):
        assert (x.ndim, x.size, len(x), x.byte_len, x.nbytes) == (2, 12, 4, 48, 48)
        assert repr(x) == "TensorRef(x: float32[4,3])"
        assert (x[1:3].shape, x[-1].shape, x[2:].shape) == ((2, 3), (3,), (2, 3))
        rest = x.at_bytes(40)
        assert (rest.byte_len, rest.writable, rest.is_empty) == (8, False, False)
        space = s.alloc_bytes(100)
        assert (space.byte_len, space[12:44].byte_len) == (100, 32)
        assert (space.is_empty, s.alloc_bytes(0).is_empty) == (False, True)
        out = s.alloc_output(x.shape, x.dtype)
        s.copy_bytes(out[1:3], x[2:4])
        s.copy_bytes(out.at_bytes(36), x[0])
        return out

    rows, row = plan_of(body, np.zeros((4, 3), np.float32)).commands
    assert (rows.destination.offset, rows.source.offset, rows.nbytes) == (12, 24, 24)
    assert (row.destination.offset, row.source.offset, row.nbytes) == (36, 0, 12)


def test_a_session_tells_identity_and_stream():
    def body(s, x):
        identity = s.runtime_identity
        assert identity.platform == jax.default_backend()
        assert identity.jax == jax.__version__
        assert isinstance(identity, rc.RuntimeIdentity)
        assert isinstance(s.stream(), rc.StreamRef)
        assert "stream" in repr(s.stream())
        assert "open" in repr(s)
        s.synchronize()
        return s.alloc_output(1, x.dtype, fill=0)

    assert plan_of(body, X).synchronizes


# Values, with commands that need no kernel


@rc.op
def shuffle(s, x):
    """Copies the halves crosswise over a filled array."""
    half = x.shape[0] // 2
    out = s.alloc_output((x.shape[0] + 1,), x.dtype, fill=7)
    s.copy_bytes(out[:half], x[half:])
    s.copy_bytes(out[half : 2 * half], x[:half])
    s.copy_bytes(out[:0], x[6:])
    return out


def shuffled(x):
    return np.concatenate([x[3:], x[:3], [np.float32(7)]])


def test_copies_and_fills_run():
    np.testing.assert_array_equal(shuffle(X), shuffled(X))
    np.testing.assert_array_equal(jax.jit(shuffle)(X), shuffled(X))


def test_vmap_runs_and_nests():
    x = np.arange(4 * 2 * 6, dtype=np.float32).reshape(4, 2, 6)
    want = np.apply_along_axis(shuffled, -1, x)
    np.testing.assert_array_equal(jax.vmap(jax.vmap(shuffle))(x), want)
    turned = jax.vmap(jax.vmap(shuffle, in_axes=1), in_axes=0)(x.swapaxes(1, 2))
    np.testing.assert_array_equal(turned, want)


def test_in_place_values():
    @rc.op
    def clear(s, x):
        x = s.tensor_mut(x)
        s.fill_bytes(x[1:3], 0)
        return x

    want = X * [1, 0, 0, 1, 1, 1]
    before, after = jax.jit(lambda x: (x, clear(x)))(X)
    np.testing.assert_array_equal(before, X)
    np.testing.assert_array_equal(after, want)
    rows = jnp.stack([X, X])
    np.testing.assert_array_equal(jax.vmap(clear)(rows), [want, want])
    out = jax.vmap(lambda x, _: clear(x), in_axes=(None, 0))(X, rows)
    np.testing.assert_array_equal(out, [want, want])


def test_control_flow():
    def step(carry, _):
        return shuffle(carry)[:6], carry[0]

    last, firsts = jax.jit(lambda x: jax.lax.scan(step, x, length=2))(X)
    np.testing.assert_array_equal(last, X)
    np.testing.assert_array_equal(firsts, [0, 3])
    two = jax.lax.cond(True, shuffle, lambda x: jnp.zeros(7, x.dtype), X)
    np.testing.assert_array_equal(two, shuffled(X))
