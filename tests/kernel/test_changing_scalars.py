"""The third value of a scalar in eager calls: from then on it is read from memory."""

from __future__ import annotations

import itertools
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.counting import xla_compiles

import jax_rawcuda as rc
from jax_rawcuda._base.errors import UnsupportedError
from jax_rawcuda._session import session as _session
from jax_rawcuda._xla import primitive as _primitive

MODULE = rc.compile_nvrtc(r"""
extern "C" __global__ void affine(double a, const float* x, float b, float* out,
                                  int n, int repeats) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  for (int k = 0; k < repeats; k++) value = (float)(a * value) + b;
  out[i] = value;
}
struct Step { float scale; double shift; };
extern "C" __global__ void by_struct(const float* x, Step step, float2 more, float* out,
                                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = step.scale * x[i] + (float)step.shift + more.x - more.y;
}
template <int N> __global__ void times(const float* x, float a, float* out) {
  if (threadIdx.x < N) out[threadIdx.x] = N * a * x[threadIdx.x];
}
""")
X = np.random.default_rng(8).standard_normal(23).astype(np.float32)


def affine(a, b=0.0, repeats=1, x=X):
    for _ in range(repeats):
        x = (a * x).astype(np.float32) + np.float32(b)
    return x


def make(**contract):
    contract = {"shapes": "n -> n", "threads": "n", **contract}
    return rc.kernel(MODULE, "affine", **contract)


@pytest.fixture
def launches(monkeypatch):
    """The by-value arguments of each launch that is recorded."""
    seen = []
    launch = _session.Session.launch

    def counted(session, function, config, *args):
        launch(session, function, config, *args)
        recorded = session.commands[-1].arguments
        kinds = zip(function.signature.parameters, recorded, strict=True)
        seen.append(
            {
                p.name: type(argument).__name__.removesuffix("Argument").lower()
                for p, argument in kinds
                if not p.is_pointer
            }
        )

    monkeypatch.setattr(_session.Session, "launch", counted)
    return seen


def same(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)


def test_two_values_are_static_and_all_others_one_program(launches):
    kernel, x = make(), jnp.asarray(X)
    values = [0.5, 0.25, 0.1, -3, np.float32(7), np.int64(-2), rc.KernelArg.f64(0.3)]
    with xla_compiles() as compiles:
        for a in [*values, *values, 0.5]:
            number = a if not isinstance(a, rc.KernelArg) else 0.3
            same(kernel(a, x, 1.0, 1), affine(number, 1.0))
    assert len(compiles) == 3
    assert [launch["a"] for launch in launches] == ["scalar", "scalar", "dynamic"]
    assert {launch["b"] for launch in launches} == {"scalar"}


def test_bits_are_those_of_the_static_call():
    static, changing, x = make(), make(), jnp.asarray(X)
    for a in (1.0, 2.0, 3.0):
        changing(a, x, 0.0, 1)
    for a in (0.1, 1, 4.0, -0.0, 0.0, np.nan, np.inf, 5e-324):
        want = jax.jit(lambda x, a=a: static(a, x, -0.0, 1))(x)
        got = changing(a, x, -0.0, 1)
        np.testing.assert_array_equal(
            np.asarray(got).view(np.int32), np.asarray(want).view(np.int32)
        )


def test_scalars_that_begin_to_change_one_after_the_other(launches):
    kernel, x = make(), jnp.asarray(X)
    for i in range(8):
        same(kernel(0.5, x, float(i), 1), affine(0.5, i))
    for i in range(8):
        same(kernel(i, x, 0.5 + i, 1), affine(i, 0.5 + i))
    for i in range(1, 5):
        same(kernel(0.5 + i, x, 0.25 * i, i), affine(0.5 + i, 0.25 * i, i))
        same(
            kernel(x=x, repeats=i, a=2.0, b=0.5 + i, n=X.size), affine(2.0, 0.5 + i, i)
        )
    assert launches[-1] == {
        "a": "dynamic",
        "b": "dynamic",
        "n": "scalar",
        "repeats": "dynamic",
    }
    count = len(launches)
    for i in range(4):
        same(kernel(i + 0.1, x, i + 0.2, 2), affine(i + 0.1, i + 0.2, 2))
        same(kernel(i + 0.1, x[:7], i + 0.2, 2), affine(i + 0.1, i + 0.2, 2, X[:7]))
    assert len(launches) == count + 1  # for the new shape


def test_all_at_once(launches):
    kernel, x = make(), jnp.asarray(X)
    for i in range(6):
        same(kernel(i + 0.5, x, i / 4, 1), affine(i + 0.5, i / 4))
    assert [launch["a"] for launch in launches] == ["scalar", "scalar", "dynamic"]
    assert [launch["b"] for launch in launches] == ["scalar", "scalar", "dynamic"]


def test_numbers_beside_arrays(launches):
    kernel, x = make(), jnp.asarray(X)
    for i in range(5):
        same(kernel(i + 0.5, x, jnp.float32(i), 1), affine(i + 0.5, i))
    assert [launch["b"] for launch in launches] == ["dynamic"] * 3
    for i in range(5):
        same(kernel(i + 0.5, x, i + 0.25, 1), affine(i + 0.5, i + 0.25))
    with jax.enable_x64(True):
        same(kernel(jnp.float64(0.5), x, 8.5, 1), affine(0.5, 8.5))


def test_structs_and_vectors():
    kernel = rc.kernel(MODULE, "by_struct", shapes="n -> n", threads="n")
    record = np.dtype([("scale", "f4"), ("shift", "f8")], align=True)
    x = jnp.asarray(X)
    with xla_compiles() as compiles:
        for i in range(9):
            step = np.array((0.5 * i, 1.5 - i), record)
            more = np.float32([i, 3 * i])
            want = np.float32(0.5 * i) * X + np.float32(1.5 - i) - np.float32(2 * i)
            for given in (step, step[()], rc.KernelArg.scalar(step)):
                np.testing.assert_allclose(
                    kernel(x, given, more), want, rtol=1e-6, atol=2e-6
                )
    assert len(compiles) == 3


def test_what_is_traced_stays_static(launches):
    kernel, x = make(), jnp.asarray(X)
    for i in range(4):
        kernel(i + 0.5, x, 0.0, 1)
    del launches[:]
    for i in range(3):
        same(jax.jit(lambda x, i=i: kernel(i + 0.25, x, 0.0, 1))(x), affine(i + 0.25))
        same(jax.vmap(lambda x, i=i: kernel(i, x, 0.0, 1))(x[None])[0], affine(i))
    assert [launch["a"] for launch in launches] == ["scalar"] * 6


def test_where_arrays_may_not_be_sent_numbers_stay_static(launches):
    kernel, x = make(), jnp.asarray(X)
    with jax.transfer_guard("disallow"):
        for i in range(4):
            kernel(i + 0.5, x, 0.25, 1)
    for i in range(3):
        kernel(i + 5.5, x, 0.25, 1)
    assert [launch["a"] for launch in launches[:6]] == ["scalar"] * 6
    assert launches[6]["a"] == "dynamic"
    with jax.transfer_guard("disallow"):
        same(kernel(9.5, x, 0.25, 1), affine(9.5, 0.25))
    assert launches[7]["a"] == "scalar"


def test_launches_of_an_op_stay_static(launches):
    kernel = make()

    @rc.op
    def steps(s, x):
        for i in range(5):
            x = kernel(i + 0.5, x, 0.25, 1)
        return x

    want = X
    for i in range(5):
        want = affine(i + 0.5, 0.25, x=want)
    for _ in range(2):
        np.testing.assert_allclose(steps(X), want, rtol=1e-5)
    assert {launch["a"] for launch in launches} == {"scalar"}


def test_dimensions_and_what_functions_of_the_users_see_stay_static(launches):
    kernel, x = make(shapes="n -> repeats n"), jnp.asarray(X)
    for repeats in range(1, 5):
        got = kernel(0.5, x, 0.0, repeats=repeats)
        assert got.shape == (repeats, X.size)
    assert {launch["repeats"] for launch in launches} == {"scalar"}
    seen = []
    kernel = make(
        threads=None,
        launch=lambda a, x, *_: seen.append(a) or rc.LaunchConfig.flat(x.size, 64),
    )
    for i in range(5):
        same(kernel(i + 0.5, x, 0.0, 1), affine(i + 0.5))
    assert seen == [i + 0.5 for i in range(5)]
    assert {launch["a"] for launch in launches} == {"scalar"}


@pytest.mark.parametrize("seen", [1, 4])
def test_the_same_numbers_are_refused(seen):
    kernel, x = make(), jnp.asarray(X)
    for i in range(seen):
        kernel(0.5 + i, x, 0.5 + i, i)
    with pytest.raises(rc.ValidationError, match=r"^affine: scalar 'b'=1e\+300 overf"):
        kernel(0.5, x, 1e300, 1)
    with pytest.raises(rc.ValidationError, match=r"^affine: scalar 'repeats'=1\.5 is"):
        kernel(0.5, x, 0.5, 1.5)
    with pytest.raises(rc.SignatureError, match=r"^affine: operand 'x' is int32"):
        kernel(0.5, jnp.arange(3), 1e300, 1)
    with pytest.raises(rc.SignatureError, match=r"^affine: expected 4 arguments"):
        kernel(0.5, x, 0.5)


def test_instances_of_a_template(launches):
    kernel = rc.kernel(
        MODULE, "times", template="n", shapes="n -> n", threads="n", block=32
    )
    for i in range(5):
        for n in (3, 5):
            same(kernel(jnp.asarray(X[:n]), i + 0.5), np.float32(n * (i + 0.5)) * X[:n])
    assert [launch["a"] for launch in launches].count("dynamic") == 2


def test_instances_whose_scalars_differ():
    kernel = rc.kernel(
        """template <int N> struct Number { typedef float type; };
        template <> struct Number<5> { typedef int type; };
        template <int N> __global__ void k(const float* x, typename Number<N>::type a,
                                           float* out) {
          if (threadIdx.x < N) out[threadIdx.x] = a * x[threadIdx.x];
        }""",
        template="n",
        shapes="n -> n",
        threads="n",
        block=32,
    )
    for i in range(5):
        for n in (3, 5, 4):
            same(kernel(jnp.asarray(X[:n]), i), i * X[:n])


def test_a_kernel_that_cannot_read_memory_stays_static(launches, monkeypatch):
    bind = _primitive.bind
    refused = []

    def refuse(plan, operands):
        if len(operands) > 1:
            refused.append(plan)
            raise UnsupportedError("it is a cubin")
        return bind(plan, operands)

    monkeypatch.setattr(_primitive, "bind", refuse)
    kernel, x = make(), jnp.asarray(X)
    for i in range(6):
        same(kernel(i + 0.5, x, i / 4, 1), affine(i + 0.5, i / 4))
    assert len(refused) == 1
    assert [launch["a"] for launch in launches[-3:]] == ["scalar"] * 3
    with pytest.raises(UnsupportedError, match="it is a cubin"):
        kernel(0.5, x, jnp.float32(1), 1)


def test_checked(launches):
    kernel, x = make(), jnp.asarray(X)
    with rc.checking():
        for i in range(5):
            same(kernel(i + 0.5, x, i / 4, 1), affine(i + 0.5, i / 4))
    assert launches[-1]["a"] == "dynamic"


def test_from_several_threads():
    kernel, x = make(), jnp.asarray(X)
    failed = []

    def work(start):
        try:
            for i in range(40):
                a = start + i / 64
                same(kernel(a, x, 0.25, 1), affine(a, 0.25))
        except Exception as error:  # pragma: no cover
            failed.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_complex_numbers_are_told_apart():
    kernel = rc.kernel(
        "__global__ void k(cuda::std::complex<float> z, float* out) "
        "{ out[0] = z.real(); out[1] = z.imag(); }",
        out=jax.ShapeDtypeStruct((2,), jnp.float32),
        launch=rc.LaunchConfig(1, 1),
    )
    zeros = [complex(a, b) for a, b in itertools.product([0.0, -0.0], repeat=2)]
    with xla_compiles() as compiles:
        for z in [*zeros, 1 + 2j, *zeros]:
            got = np.asarray(kernel(z))
            np.testing.assert_array_equal(got, [z.real, z.imag])
            np.testing.assert_array_equal(np.signbit(got), np.signbit([z.real, z.imag]))
    assert len(compiles) == 3
