"""A kernel remembers the plans of its calls, and never takes one call for another."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import jax_rawcuda as rc
from jax_rawcuda._kernel.call_key import call_key
from jax_rawcuda._session import session as _session

SOURCE = """
__global__ void scale(const float* x, double a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (float)(a * x[i]);
}"""
X = np.random.default_rng(3).standard_normal(41).astype(np.float32)


@pytest.fixture
def launches(monkeypatch):
    """Counts the launches that are recorded."""
    seen = []
    launch = _session.Session.launch

    def counted(session, *args):
        seen.append(args)
        launch(session, *args)

    monkeypatch.setattr(_session.Session, "launch", counted)
    return seen


def scale(**contract):
    return rc.kernel(SOURCE, **{"shapes": "n -> n", "threads": "n", **contract})


def test_an_equal_call_is_recorded_once(launches):
    kernel = scale()
    for i in range(4):
        x = jnp.asarray(X + i)
        np.testing.assert_allclose(kernel(x, 3.0), 3 * x, rtol=1e-6)
    assert len(launches) == 1


NUMBERS = [2.0, -2.0, 2, 0.0, -0.0, np.float32(2), np.int8(2), rc.KernelArg.f64(2)]


@pytest.mark.parametrize("pair", [*itertools.pairwise(NUMBERS)], ids=repr)
def test_every_other_call_is_recorded(launches, pair):
    kernel, x = scale(), jnp.asarray(X)
    for _ in range(2):
        for a in pair:
            expected = np.float32(a if not isinstance(a, rc.KernelArg) else 2) * X
            got = kernel(x, a)
            np.testing.assert_array_equal(got, expected)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))
        np.testing.assert_array_equal(kernel(x[:7], pair[0]), kernel(x, pair[0])[:7])
        np.testing.assert_array_equal(kernel(x, a=pair[0]), kernel(x, pair[0]))
    assert len(launches) == 4


@pytest.mark.parametrize("order", ["ax", "xa"])
def test_arrays_by_keyword(launches, order):
    kernel = rc.kernel(
        """__global__ void k(float a, const float* x, float* out, int n) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) out[i] = a * x[i];
        }""",
        shapes="n -> n",
        threads="n",
    )
    for i in range(3):
        arrays = {"a": jnp.float32(i + 0.5), "x": jnp.asarray(X + i)}
        got = kernel(**{name: arrays[name] for name in order})
        np.testing.assert_array_equal(got, np.float32(i + 0.5) * (X + i))
    assert len(launches) == (1 if order == "ax" else 3)  # where the order is another


def test_a_function_of_the_users_is_asked_every_time(launches):
    blocks = [32, 64]
    kernel = scale(
        threads=None, launch=lambda x, _: rc.LaunchConfig.flat(x.size, blocks.pop())
    )
    for _ in range(2):
        np.testing.assert_array_equal(kernel(jnp.asarray(X), 2.0), 2 * X)
    assert [config.block[0] for _, config, *_ in launches] == [64, 32]


def test_a_refused_call_is_refused_again():
    kernel = scale()
    for _ in range(2):
        with pytest.raises(rc.SignatureError, match="operand 'x' is int32"):
            kernel(jnp.arange(4), 2.0)


def test_a_remembered_call_works_while_tracing(launches):
    kernel, x = scale(), jnp.asarray(X)
    np.testing.assert_array_equal(kernel(x, 2.0), 2 * X)
    f = jax.jit(jax.vmap(lambda row: kernel(row, 2.0)))
    np.testing.assert_array_equal(f(jnp.stack([x, x + 1])), 2 * np.stack([X, X + 1]))
    assert len(launches) == 1


DIFFERENT = [
    4,
    4.0,
    True,
    0.0,
    -0.0,
    float("nan"),
    float(np.uint64(0x7FF8_0000_0000_0001).view(np.float64)),
    0j,
    complex(0.0, -0.0),
    np.int32(4),
    np.int64(4),
    np.float32(4),
    np.float32(-0.0),
    np.float32(0.0),
    np.array(0.5, np.float32),
    ml_dtypes.bfloat16(4),
    rc.KernelArg.i32(4),
    rc.KernelArg.u32(4),
    jnp.zeros(4),
    jnp.zeros((4, 1)),
    jnp.zeros(4, jnp.int32),
]


def test_keys_tell_arguments_apart():
    keys = [call_key([value], {}) for value in DIFFERENT]
    keys += [call_key([], {"a": 4}), call_key([], {"b": 4}), call_key([4, 4], {})]
    assert None not in keys
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("value", [X, [1.0], None, "text", {"a": 1}])
def test_other_arguments_have_no_key(value):
    assert call_key([value], {}) is None
