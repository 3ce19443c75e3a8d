"""By-value parameters of a kernel that come from arrays: traced, mapped or eager."""

from __future__ import annotations

import itertools
import re

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from support.counting import xla_compiles

import jax_rawcuda as rc

MODULE = rc.compile_nvrtc(r"""
#include <cstdint>
struct Pair { int64_t first; float second; };
template <typename T> __global__ void bits(T value, unsigned char* out, int copies) {
  const unsigned char* from = reinterpret_cast<const unsigned char*>(&value);
  for (int i = threadIdx.x; i < sizeof(T) * copies; i += blockDim.x) {
    out[i] = from[i % sizeof(T)];
  }
}
template __global__ void bits<Pair>(Pair, unsigned char*, int);
extern "C" __global__ void axpy(float a, const float* x, float b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + b;
}
extern "C" __global__ void kinds(const float* x, double a, short b, bool c, float* out,
                                 int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = c ? (float)(a * x[i]) + b : -1.0f;
}
""")

INTEGERS = {
    "char": np.int8,
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "short": np.int16,
    "unsigned short": np.uint16,
    "int": np.int32,
    "unsigned int": np.uint32,
    "long": np.dtype("l"),
    "unsigned long": np.dtype("L"),
    "long long": np.int64,
    "unsigned long long": np.uint64,
}
FLOATS = {
    "float": np.float32,
    "double": np.float64,
    "__half": np.float16,
    "__nv_bfloat16": ml_dtypes.bfloat16,
    "__nv_fp8_e4m3": ml_dtypes.float8_e4m3fn,
    "__nv_fp8_e5m2": ml_dtypes.float8_e5m2,
}
COMPLEX = {
    "cuda::std::complex<float>": np.complex64,
    "cuda::std::complex<double>": np.complex128,
    "float2": np.complex64,
}
VECTORS = {
    "float2": (2, np.float32),
    "float4": (4, np.float32),
    "int3": (3, np.int32),
    "uchar4": (4, np.uint8),
    "double2": (2, np.float64),
    "__half2": (2, np.float16),
    "Pair": (16, np.uint8),
}
COUNT = 6  # values per type


def random_values(rng, kind):
    """Values of a C type: (COUNT, *shape of one)."""
    if kind == "bool":
        return rng.integers(0, 2, COUNT).astype(np.bool_)
    if kind in INTEGERS:
        info = np.iinfo(INTEGERS[kind])
        return rng.integers(info.min, info.max, COUNT, info.dtype, endpoint=True)
    if kind in FLOATS:
        return rng.normal(0, 4, COUNT).astype(FLOATS[kind])
    if kind.startswith("complex "):
        values = rng.normal(0, 4, (2, COUNT))
        return (values[0] + 1j * values[1]).astype(COMPLEX[kind[8:]])
    lanes, dtype = VECTORS[kind]
    return (rng.normal(0, 4, (COUNT, lanes)) * 16).astype(dtype)


KINDS = [
    "bool",
    *INTEGERS,
    *FLOATS,
    *(f"complex {name}" for name in COMPLEX),
    *VECTORS,
]


def bits(kind, size):
    return rc.kernel(
        MODULE,
        "bits",
        template=kind.removeprefix("complex "),
        shapes=f"-> copies*{size}",
        threads=32,
    )


def as_bytes(values):
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)


@pytest.fixture(params=KINDS)
def case(request, rng, x64):
    """A function of one scalar, its values, and what it gives for each: their bytes."""
    values = random_values(rng, request.param)
    expected = as_bytes(values)
    kernel = bits(request.param, expected.shape[1])
    return (lambda a: kernel(a, copies=2)), values, np.tile(expected, 2)


def test_a_traced_scalar_is_what_a_static_one_is(case):
    f, values, expected = case

    def scan(values):
        def step(a, following):
            return following, f(a)

        return jax.lax.scan(step, values[-1], values)[1]

    def while_loop(values):
        def step(state):
            i, out = state
            return i + 1, out.at[i].set(f(values[i]))

        out = jnp.zeros(expected.shape, np.uint8)
        return jax.lax.while_loop(lambda state: state[0] < COUNT, step, (0, out))[1]

    @jax.jit
    def run(values, single):
        grid = values.reshape(2, 3, *values.shape[1:])
        return {
            "argument": f(single)[None],
            "static": jnp.stack([f(rc.KernelArg.scalar(v)) for v in numbers]),
            "scan": scan(values),
            "while": while_loop(values),
            "vmap": jax.vmap(f)(values),
            "nested vmap": jax.vmap(jax.vmap(f), in_axes=1, out_axes=1)(grid),
        }

    numbers = values[:2]
    got = run(values, values[3])
    want = {
        "argument": expected[3:4],
        "static": expected[:2],
        "scan": np.roll(expected, 1, axis=0),
        "while": expected,
        "vmap": expected,
        "nested vmap": expected.reshape(2, 3, -1),
    }
    for name, array in want.items():
        np.testing.assert_array_equal(got[name], array, err_msg=name)


def test_an_array_in_an_eager_call(case):
    f, values, expected = case
    with xla_compiles() as compiles:
        for value, want in zip(map(jax.device_put, values), expected, strict=True):
            np.testing.assert_array_equal(f(value), want)
    assert len(compiles) == 1
    np.testing.assert_array_equal(jax.vmap(f)(values), expected)


# Beside arrays

axpy = rc.kernel(MODULE, "axpy", shapes="n -> n", threads="n")
N = 19


@pytest.mark.parametrize(
    "axes", [s for s in itertools.product([0, None], repeat=3) if 0 in s]
)
def test_batches_of_scalars_and_arrays(rng, axes):
    a, b = rng.normal(size=(2, 4)).astype(np.float32)
    x = rng.normal(size=(4, N)).astype(np.float32)
    given = [v if axis == 0 else v[1] for v, axis in zip((a, x, b), axes, strict=True)]
    elements = [
        [v[i] if axis == 0 else v for v, axis in zip(given, axes, strict=True)]
        for i in range(4)
    ]
    want = np.stack([axpy(*map(jnp.asarray, element)) for element in elements])
    np.testing.assert_array_equal(jax.jit(jax.vmap(axpy, axes))(*given), want)


def test_each_scalar_under_a_batch_of_its_own(rng):
    a, b = (rng.normal(size=k).astype(np.float32) for k in (2, 4))
    x = rng.normal(size=(3, N)).astype(np.float32)
    f = jax.vmap(axpy, (None, None, 0), out_axes=0)
    f = jax.vmap(jax.vmap(f, (None, 0, None)), (0, None, None))
    want = a[:, None, None, None] * x[:, None] + b[:, None]
    np.testing.assert_allclose(jax.jit(f)(a, x, b), want, rtol=1e-5, atol=1e-6)


def test_some_scalars_static_some_not(rng):
    x = rng.normal(size=N).astype(np.float32)
    a = np.float32(rng.normal())
    want = axpy(a.item(), x, 0.5)
    for f in (lambda a: axpy(a, x, 0.5), lambda a: axpy(b=0.5, x=jnp.asarray(x), a=a)):
        np.testing.assert_array_equal(f(jnp.asarray(a)), want)
        np.testing.assert_array_equal(jax.jit(f)(a), want)


def test_in_shard_map(rng):
    x = rng.normal(size=(2, N)).astype(np.float32)
    scales = rng.normal(size=2).astype(np.float32)
    mesh = jax.sharding.Mesh(jax.devices("cpu")[:2], ("i",))
    spec = jax.sharding.PartitionSpec
    f = jax.shard_map(
        lambda a, x, b: axpy(a[0], x[0], b)[None],
        mesh=mesh,
        in_specs=(spec("i"), spec("i"), spec()),
        out_specs=spec("i"),
    )
    got = jax.jit(f)(scales, x, np.float32(0.5))
    np.testing.assert_allclose(got, scales[:, None] * x + np.float32(0.5), rtol=1e-5)


def test_a_derivative_sees_an_array(rng):
    x = rng.normal(size=N).astype(np.float32)
    f = jax.custom_vjp(lambda a, x: axpy(a, x, 0.0))
    f.defvjp(
        lambda a, x: (axpy(a, x, 0.0), (a, x)),
        lambda saved, g: (jnp.vdot(saved[1], g), axpy(saved[0], g, 0.0)),
    )

    def loss(a, x):
        return jnp.sum(f(a, x) ** 2)

    got = jax.jit(jax.grad(loss, argnums=(0, 1)))(np.float32(0.75), x)
    want = jax.grad(lambda a, x: jnp.sum((a * x) ** 2), argnums=(0, 1))(
        np.float32(0.75), x
    )
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    with pytest.raises(rc.UnsupportedError, match="axpy has no differentiation rule"):
        jax.grad(lambda a: axpy(a, x, 0.0).sum())(jnp.float32(1))


def test_python_numbers_under_custom_vjp(rng):
    """JAX hands them over as floats of its own, or traced."""
    x = rng.normal(size=N).astype(np.float32)
    f = jax.custom_vjp(lambda x, a, b: axpy(a, x, b))
    f.defvjp(
        lambda x, a, b: (axpy(a, x, b), a),
        lambda a, g: (axpy(a, g, 0.0), None, None),
    )
    want = axpy(0.1, x, 3)
    np.testing.assert_array_equal(f(x, 0.1, 3), want)
    np.testing.assert_array_equal(jax.jit(lambda x: f(x, 0.1, 3))(x), want)
    np.testing.assert_array_equal(
        jax.grad(lambda x: f(x, 0.1, 3).sum())(x), np.full(N, np.float32(0.1))
    )


# Types


def test_weak_types_are_those_of_jnp(rng):
    x = rng.normal(size=N).astype(np.float32)
    kernel = rc.kernel(MODULE, "kinds", shapes="n -> n", threads="n")
    with jax.enable_x64(True):
        got = jax.jit(lambda a, b: kernel(x, a, b, True))(1.5, 4)
        np.testing.assert_array_equal(got, (x * 1.5).astype(np.float32) + 4)
        got = jax.jit(lambda a, b: kernel(x, a, b, b > a))(2, 4)
        np.testing.assert_array_equal(got, x * 2 + 4)
        text = (
            r"^kinds: scalar 'b' is float64\[\], .* needs int16\[\]\. Cast with b\.as"
        )
        with pytest.raises(rc.SignatureError, match=text):
            jax.jit(lambda b: kernel(x, 1.0, b, True))(4.0)
        with pytest.raises(rc.SignatureError, match=r"'c' is int64\[\], .* bool\[\]"):
            jax.jit(lambda c: kernel(x, 1.0, 1, c))(1)
    text = (
        r"^kinds: scalar 'a' is float32\[\], but parameter `double a` needs "
        r"float64\[\]\. Set jax\.config\.update\(\"jax_enable_x64\", True\) and cast "
        r"with a\.astype\(\"float64\"\), or pass a static Python number "
        r"\(static_argnames\)\."
    )
    with pytest.raises(rc.SignatureError, match=text):
        jax.jit(lambda a: kernel(x, a, 4, True))(1.5)


def test_signed_zeros_and_nans_of_every_payload():
    payloads = np.uint32([0, 1 << 31, 0x7FC00001, 0xFFC12345, 0x7F800001, 0x7F800000])
    kernel = bits("float", 4)
    values = payloads.view(np.float32)
    got = jax.jit(jax.vmap(lambda a: kernel(a, copies=1)))(values)
    np.testing.assert_array_equal(got, as_bytes(values))
    for value, want in zip(values, as_bytes(values), strict=True):
        np.testing.assert_array_equal(kernel(jax.device_put(value), copies=1), want)


# Compilations


def test_a_thousand_new_values_are_one_program(rng):
    kernel = rc.kernel(MODULE, "axpy", shapes="n -> n", threads="n")
    x = rng.normal(size=N).astype(np.float32)
    values = rng.normal(size=1000).astype(np.float32)
    want = values[:, None] * x + np.float32(0.25)
    x = jnp.asarray(x)
    kernel(1.0, x, 0.25)
    compiled = rc.cache_stats().compiles

    def check(results):
        results = np.asarray([*map(np.asarray, results)])
        np.testing.assert_allclose(results, want, rtol=1e-5, atol=1e-6)

    jitted = jax.jit(kernel)
    with xla_compiles() as compiles:
        check([jitted(a, x, 0.25) for a in values])
    assert len(compiles) == 1
    loop = jax.jit(
        lambda x: jax.lax.scan(lambda _, a: ((), kernel(a, x, 0.25)), (), values)
    )
    with xla_compiles() as compiles:
        check(np.asarray(loop(x)[1]))
    assert len(compiles) == 1
    arrays = jax.device_put(list(values))
    with xla_compiles() as compiles:
        check([kernel(a, x, 0.25) for a in arrays])
    assert len(compiles) == 1
    with xla_compiles() as compiles:
        check([kernel(a.item(), x, 0.25) for a in values])
    assert len(compiles) == 2  # one more static value, and what reads all others
    assert rc.cache_stats().compiles <= compiled + 1


# Functions of the user's


def same(_a, x, *_more):
    return x


def flat(_a, x, *_more):
    return rc.LaunchConfig.flat(x.size, 64)


def test_functions_of_the_users_get_the_type(rng):
    seen = []
    x = rng.normal(size=N).astype(np.float32)

    def out(a, x, b, n):
        seen.append((a, b, n))
        return jax.eval_shape(lambda a, x: a * x, a, x)

    kernel = rc.kernel(MODULE, "axpy", out=out, launch=flat)
    got = jax.jit(lambda a: kernel(a, x, 0.5, N))(np.float32(2))
    np.testing.assert_array_equal(got, axpy(2.0, x, 0.5))
    [(a, b, n)] = seen
    assert a == jax.ShapeDtypeStruct((), np.float32)
    assert (b, n) == (0.5, N)


USES = {
    "int": lambda a: int(a),
    "index": lambda a: range(a),
    "float": lambda a: float(a),
    "condition": lambda a: 1 if a else 2,
    "arithmetic": lambda a: 2 * a + 1,
    "comparison": lambda a: a > 1,
    "equality": lambda a: a == 1,
    "look-up": lambda a: {2: 3}.get(a),
    "text": lambda a: f"{a}",
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("where", ["launch", "out"])
def test_functions_of_the_users_get_no_value(rng, use, where):
    x = jnp.asarray(rng.normal(size=N), jnp.float32)

    def function(a, *_more):
        use(a)

    functions = {"out": same, "launch": flat, where: function}
    kernel = rc.kernel(MODULE, "axpy", **functions)
    with pytest.raises(rc.SignatureError, match=r"^axpy: argument 'a' is an") as caught:
        kernel(jnp.float32(2), x, 0.5, N)
    assert re.match(f"axpy: in {where}=, called with", *caught.value.__notes__)
    with pytest.raises(rc.SignatureError, match="argument 'a' is an array"):
        jax.jit(kernel, static_argnames="n")(2.0, x, 0.5, n=N)


def test_an_extent_that_is_an_array_is_named(rng):
    x = jnp.asarray(rng.normal(size=N), jnp.float32)
    launch = lambda a, *_: rc.LaunchConfig(grid=a, block=32)  # noqa: E731
    kernel = rc.kernel(MODULE, "axpy", out=same, launch=launch)
    with pytest.raises(rc.RawCudaError, match="grid needs Python ints") as caught:
        kernel(jnp.float32(2), x, 0.5, N)
    (note,) = caught.value.__notes__
    assert "[argument 'a' (float32[], without a value; static_argnames), " in note


def test_a_function_for_template_gets_no_value(rng):
    kernel = rc.kernel(
        "template <int N, typename T> __global__ void k(const T* x, int a, T* out) "
        "{ out[threadIdx.x] = x[threadIdx.x] * N + a; }",
        template=lambda x, a: (int(a), x.dtype),
        shapes="m -> m",
        threads="m",
        block=8,
    )
    x = jnp.asarray(rng.integers(0, 99, 8), jnp.int32)
    np.testing.assert_array_equal(kernel(x, 3), x * 3 + 3)
    with pytest.raises(rc.SignatureError, match=r"^k: argument 1 is an array"):
        kernel(x, jnp.int32(3))
