"""One row per wrong launch: the text names kernel and thing, and says what to do.

Every row is raised by Python while recording; none reaches XLA.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from support.fakes import SAXPY, FakeFunction

import jax_rawcuda as rc

pytestmark = pytest.mark.usefixtures("no_xla")

X = np.arange(5, dtype=np.float32)
ONE = rc.LaunchConfig(1, 32)


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
