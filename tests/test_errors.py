"""One row per wrong input: the text names kernel and thing, and says what to do.

Every row is raised by Python while recording; none reaches XLA.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from _fakes import SAXPY, FakeFunction

import jax_rawcuda as rc

X = np.arange(5, dtype=np.float32)
ONE = rc.LaunchConfig(1, 32)


@pytest.fixture(autouse=True)
def _no_xla(monkeypatch):
    def reached(*_args, **_params):
        raise AssertionError("the primitive was bound")

    monkeypatch.setattr("jax_rawcuda._primitive.bind", reached)


def launch(*arguments, function=SAXPY, config=ONE):
    """Records one launch; a callable argument makes its own from the session."""

    @rc.op(name="f")
    def body(s, x):
        out = s.alloc_output(x.shape, x.dtype)
        made = [a(s, x, out) if callable(a) else a for a in arguments]
        s.launch(function, config, *made)
        return out

    body(X)


def x(_s, x, _out):
    return x


def out(_s, _x, out):
    return out


def operand(array):
    return lambda s, _x, _out: s.tensor(array, name="y")


TRACED = jnp.float32(2)
VEC4 = FakeFunction("vec4(const float4* x, float4* out)")
HALF = FakeFunction("half(const __half* x, float* out)")
FLAG = FakeFunction("flag(const bool* x, float* out)")
VOID = FakeFunction("any(const void* x, void* out)")
LONG = FakeFunction("index(const long long* x, float* out)")
POINTERS = FakeFunction("table(const float** x, float* out)")

LAUNCHES = {
    "dtype": (
        (x, operand(X.astype(np.int32)), 2.0, out, 5),
        rc.SignatureError,
        r"saxpy: operand 'y' is int32, but parameter `const float\* y` needs float32\. "
        r"Cast with y\.astype\(\"float32\"\)",
    ),
    "float64 from NumPy": (
        (x, operand(X.astype(np.float64)), 2.0, out, 5),
        rc.SignatureError,
        r"saxpy: operand 'y' is float64, but parameter `const float\* y` needs "
        r"float32\. Cast with y\.astype\(\"float32\"\)\.",
    ),
    "count": (
        (x, x, 2.0),
        rc.SignatureError,
        r"saxpy: expected 5 arguments \(x, y, a, out, n\), got 3\.",
    ),
    "const": (
        (x, x, 2.0, x, 5),
        rc.SignatureError,
        r"operand 'x' is a read-only TensorRef, but parameter `float\* out` may write "
        r"to it\. Declare the parameter const, or use s\.tensor_mut\(x\)",
    ),
    "traced scalar": (
        (x, x, TRACED, out, 5),
        rc.SignatureError,
        r"scalar 'a' is a JAX array .*`float a` is passed by value.*Declare it `const",
    ),
    "reference for a value": (
        (x, x, x, out, 5),
        rc.SignatureError,
        r"argument 'a' is TensorRef.*`float a` is passed by value. Pass a number",
    ),
    "number for a pointer": (
        (1.0, x, 2.0, out, 5),
        rc.SignatureError,
        r"argument 'x' is a Python float, but parameter `const float\* x` is a pointer",
    ),
    "NumPy number for a pointer": (
        (np.float32(1), x, 2.0, out, 5),
        rc.SignatureError,
        r"argument 'x' is .*float32.*is a pointer",
    ),
    "explicit scalar for a pointer": (
        (rc.KernelArg.f32(1), x, 2.0, out, 5),
        rc.SignatureError,
        r"is KernelArg\.f32, a scalar, but parameter `const float\* x` is a pointer",
    ),
    "array for a pointer": (
        (X, x, 2.0, out, 5),
        rc.SignatureError,
        r"an array that this session does not know .*wrap it with s\.tensor\(x\)",
    ),
    "float for an int": (
        (x, x, 2.0, out, 5.5),
        rc.ValidationError,
        r"saxpy: scalar 'n'=5\.5 is not an integer, but the parameter is `int`",
    ),
    "int out of range": (
        (x, x, 2.0, out, 2**31),
        rc.ValidationError,
        r"saxpy: scalar 'n'=2147483648 is outside `int`, which holds -2147483648 to",
    ),
    "inexact int": (
        (x, x, 2**24 + 1, out, 5),
        rc.ValidationError,
        r"saxpy: scalar 'a'=16777217 \(int\) is not exact in `float`",
    ),
    "list for a number": (
        (x, x, [2.0], out, 5),
        rc.SignatureError,
        r"saxpy: scalar 'a' is a list; it needs a number",
    ),
    "not a config": (
        (x, x, 2.0, out, 5),
        rc.SignatureError,
        "launch needs",
        {"config": 4},
    ),
    "not a function": (
        (x,),
        rc.SignatureError,
        r"launch needs \(function, LaunchConfig, \*args\), got \(str,",
        {"function": "saxpy"},
    ),
    "lanes": (
        (x, out),
        rc.ValidationError,
        r"operand 'x' has shape \(5,\), but parameter `const float4\* x` needs a last "
        r"axis that is a multiple of 4 float32",
        {"function": VEC4},
    ),
    "lane alignment": (
        (lambda s, *_: s.tensor(np.zeros(8, np.float32))[1:5], None),
        rc.ValidationError,
        r"starts at byte 4, but parameter `const float4\* x` needs a multiple of 16",
        {"function": VEC4},
    ),
    "half": ((x, out), rc.SignatureError, "needs float16", {"function": HALF}),
    "bool": ((x, out), rc.SignatureError, "needs bool", {"function": FLAG}),
    "32-bit index": (
        (operand(np.zeros(3, np.int32)), out),
        rc.SignatureError,
        "is int32, .* needs int64",
        {"function": LONG},
    ),
    "addresses": (
        (x, out),
        rc.SignatureError,
        "an array holds no addresses",
        {"function": POINTERS},
    ),
    "unwritten workspace": (
        (lambda s, *_: s.alloc_bytes(20), x, 2.0, out, 5),
        rc.ValidationError,
        r"is read through `const float\* x`, but nothing has written it yet",
    ),
    "in-place operand": (
        (lambda s, x, _: (s.tensor_mut(x), x)[1], x, 2.0, out, 5),
        rc.SessionError,
        r"operand 'x' is used in place\. Use what s\.tensor_mut returned",
    ),
    "never written": (
        (x, x, 2.0, lambda s, *_: s.alloc_bytes(20), 5),
        rc.ValidationError,
        r"f: result 'output0' is never written: .*allocate it with fill=",
    ),
    "no threads": (
        (x, x, 2.0, out, 5),
        rc.ValidationError,
        r"f: result 'out' is never written: no launch with threads",
        {"config": rc.LaunchConfig(0, 32)},
    ),
}


@pytest.mark.parametrize("row", LAUNCHES.values(), ids=LAUNCHES.keys())
def test_launch(row):
    arguments, kind, text, *options = row
    with pytest.raises(kind, match=text):
        launch(*arguments, **(options[0] if options else {}))


@pytest.mark.parametrize(
    ("function", "array"),
    [
        (VOID, X.view(np.int32)),
        (FLAG, np.zeros(4, np.bool_)),
        (VEC4, np.ones((3, 8), np.float32)),
    ],
    ids=["void", "bool", "float4"],
)
def test_what_fits(function, array):
    @rc.op
    def body(s, x):
        s.launch(function, ONE, x, s.alloc_bytes(64))
        return s.alloc_output(1, jnp.float32, fill=0)

    with pytest.raises(AssertionError, match="the primitive was bound"):
        body(array)


OPERANDS = {
    "list": ([1.0, 2.0], "is a Python float; it needs an array. Pass jnp.asarray"),
    "str": ("text", "is a Python str; it needs an array"),
    "object": (object(), "is an object; it needs an array"),
    "object array": (np.array([None]), "is object, a dtype that JAX arrays cannot"),
    "record array": (np.zeros(2, [("a", "i4")]), "a dtype that JAX arrays cannot have"),
    "foreign bytes": (np.zeros(2, ">f4"), "a dtype that JAX arrays cannot have"),
    "PRNG key": (jax.random.key(0), r"typed PRNG key.*jax\.random\.key_data\(key\)"),
    "int4": (jnp.zeros(4, jnp.int4), "4-bit elements are packed .* into uint8"),
    "float64": (np.zeros(2), "64-bit types are off and would make it float32"),
    "int64": (np.zeros(2, np.int64), "64-bit types are off and would make it int32"),
}


@pytest.mark.parametrize(("value", "text"), OPERANDS.values(), ids=OPERANDS.keys())
def test_operand(value, text):
    @rc.op
    def f(s, x):
        return s.alloc_output(1, jnp.float32, fill=0)

    with pytest.raises(rc.SignatureError, match=f"f: operand 'x.*' .*{text}"):
        f(value)


def stray(s, _x):
    return s.alloc_output(1, jnp.float32, fill=0)[:0]


COMMANDS = {
    "copy sizes": (
        lambda s, x: s.copy_bytes(s.alloc_bytes(8), x),
        rc.ValidationError,
        "f: copy_bytes: the destination has 8 bytes, the source 20",
    ),
    "copy span": (
        lambda s, x: s.copy_bytes(s.alloc_bytes(8), x, 12),
        rc.ValidationError,
        "the destination has 8 bytes; 12 are needed",
    ),
    "copy overlap": (
        lambda s, _x: (lambda w: s.copy_bytes(w[2:6], w[:4]))(s.alloc_bytes(8, fill=0)),
        rc.ValidationError,
        "source and destination overlap",
    ),
    "copy to an operand": (
        lambda s, x: s.copy_bytes(x, x),
        rc.SessionError,
        r"TensorRef\(x: float32\[5\]\) is read only",
    ),
    "copy of nothing": (
        lambda s, _x: s.copy_bytes(s.alloc_bytes(4), s.alloc_bytes(4)),
        rc.ValidationError,
        "nothing has written the source",
    ),
    "copy of an array": (
        lambda s, _x: s.copy_bytes(s.alloc_bytes(4), X),
        rc.SignatureError,
        "needs a reference of this session, got ndarray",
    ),
    "fill value": (
        lambda s, _x: s.fill_bytes(s.alloc_bytes(4), 256),
        rc.ValidationError,
        "f: fill_bytes: value=256 is outside `uint8`",
    ),
    "fill of an output": (
        lambda s, _x: s.alloc_output(3, jnp.int8, fill=0.5),
        rc.ValidationError,
        "is not an integer",
    ),
    "workspace size": (
        lambda s, _x: s.alloc_bytes(-1),
        rc.ValidationError,
        "nbytes=-1; it needs an int that is not negative",
    ),
    "alignment": (
        lambda s, _x: s.alloc_bytes(4, align=3),
        rc.ValidationError,
        "align=3; it needs a power of two up to 256",
    ),
    "shape": (
        lambda s, _x: s.alloc_output((2, -1), jnp.float32),
        rc.ValidationError,
        "shape=-1; it needs an int",
    ),
    "64-bit result": (
        lambda s, _x: s.alloc_output(2, jnp.float64),
        rc.SignatureError,
        "is float64, but JAX's 64-bit types are off",
    ),
    "part in place": (
        lambda s, x: s.tensor_mut(x[1:]),
        rc.SessionError,
        "tensor_mut needs a whole operand",
    ),
    "strided slice": (
        lambda _s, x: x[::2],
        rc.ValidationError,
        "a slice with step 2 is not contiguous. Slice the array before",
    ),
    "two axes": (lambda _s, x: x[0, 0], rc.ValidationError, r"only ref\[i\] and ref"),
    "offset": (lambda _s, x: x.at_bytes(21), rc.ValidationError, "outside of its 20"),
    "arithmetic": (
        lambda _s, x: jnp.asarray(x),
        rc.SessionError,
        "it has no values while",
    ),
    "stream": (
        lambda s, _x: s.stream().unsafe_raw_handle(),
        rc.SessionError,
        "has no stream handle",
    ),
    "result type": (
        lambda _s, _x: 3,
        rc.SignatureError,
        "f: returned int; an op returns references",
    ),
    "part of a result": (
        stray,
        rc.SessionError,
        r"returned Output\(output0: float32\[0\]\), a part of an array",
    ),
    "workspace as a result": (
        lambda s, _x: s.alloc_bytes(4, fill=0),
        rc.SessionError,
        "a part of an array or a workspace",
    ),
    "unwritten result": (
        lambda s, _x: s.alloc_output(4, jnp.float32),
        rc.ValidationError,
        r"f: result 'output0' is never written",
    ),
}


@pytest.mark.parametrize(
    ("body", "kind", "text"), COMMANDS.values(), ids=COMMANDS.keys()
)
def test_command(body, kind, text):
    with pytest.raises(kind, match=text):
        rc.op(body, name="f")(X)


def test_static_arguments():
    f = rc.op(stray, name="f")
    with pytest.raises(
        rc.SignatureError, match="keyword argument 'eps' holds an array"
    ):
        f(X, eps=jnp.ones(3))


def test_errors_are_the_builtin_kinds_too():
    assert issubclass(rc.ValidationError, ValueError)
    assert issubclass(rc.SignatureError, TypeError)
    assert issubclass(rc.SessionError, RuntimeError)
    assert issubclass(rc.UnsupportedError, NotImplementedError)


SOURCE = r"""
__global__ void saxpy(const float* x, const float* y, float a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}"""


@pytest.fixture(scope="module")
def saxpy():
    return rc.kernel(SOURCE, shapes="n, n -> n", threads="n")


KERNEL_CALLS = {
    "count": (
        (X, X),
        {},
        rc.SignatureError,
        r"saxpy: expected 3 operands \(x, y, a.*\), got 2\.",
    ),
    "keyword": (
        (X, X, 2.0),
        {"b": 1},
        rc.SignatureError,
        "saxpy: 'b' is no parameter",
    ),
    "dimension": (
        (X, X[1:], 2.0),
        {},
        rc.ValidationError,
        r"saxpy: operand 'y' has shape \(4,\), but shapes=.*axis n is 4, required 5",
    ),
    "rank": (
        (X, X[None], 2.0),
        {},
        rc.ValidationError,
        r"saxpy: operand 'y' has shape \(1, 5\) of rank 2",
    ),
    "float64": (
        (X.astype(np.float64), X, 2.0),
        {},
        rc.SignatureError,
        r"saxpy: operand 'x' is float64, but parameter `const float\* x` needs "
        r"float32\. Cast with x\.astype\(\"float32\"\)\.",
    ),
    "list": (
        ([1.0] * 5, X, 2.0),
        {},
        rc.SignatureError,
        "saxpy: operand 'x' is a Python list; it needs an array. Pass jnp.asarray",
    ),
    "number for a pointer": (
        (2.0, X, X),
        {},
        rc.SignatureError,
        "saxpy: operand 'x' is a Python float; it needs an array",
    ),
    "array for a number": (
        (X, X, X),
        {},
        rc.SignatureError,
        "saxpy: scalar 'a'",
    ),
    "traced scalar": (
        (X, X, TRACED),
        {},
        rc.SignatureError,
        "saxpy: scalar 'a' is a JAX array",
    ),
}


@pytest.mark.parametrize("row", KERNEL_CALLS.values(), ids=KERNEL_CALLS.keys())
def test_kernel_call(saxpy, row):
    arguments, keywords, kind, text = row
    with pytest.raises(kind, match=text):
        saxpy(*arguments, **keywords)


@pytest.mark.parametrize(
    ("contract", "text"),
    [
        ({"shapes": "n -> n"}, "give either threads= .* or launch="),
        ({"threads": 4}, "the results need shapes=.* or out="),
        (
            {"shapes": "n -> n+", "threads": "n"},
            r"shapes needs a dimension.*\n.*\n +\^",
        ),
        (
            {"shapes": "n -> n", "threads": "n m k j"},
            "threads has 4 axes; it ",
        ),
    ],
)
def test_declaration(contract, text):
    with pytest.raises(rc.ValidationError, match=text):
        rc.kernel(SOURCE, **contract)


def test_block_too_large():
    kernel = rc.kernel(SOURCE, shapes="n, n -> n", threads="n", block=2048)
    text = r"block=\(2048, 1, 1\) has 2048 threads; the limit is 1024 threads per block"
    with pytest.raises(rc.ValidationError, match=text):
        kernel(X, X, 2.0)


def test_block_larger_than_the_launch_bounds():
    source = SOURCE.replace("void saxpy", "void __launch_bounds__(128) saxpy")
    kernel = rc.kernel(source, shapes="n, n -> n", threads="n", block=256)
    text = r"saxpy: block=\(256, 1, 1\) has 256 threads; this kernel allows 128"
    with pytest.raises(rc.ValidationError, match=text):
        kernel(X, X, 2.0)
