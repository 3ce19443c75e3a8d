"""Operands, commands and launches that a session refuses: what is said.

Every row is raised by Python while recording; none reaches XLA.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.fakes import SAXPY, FakeFunction
from support.refusals import Row, table

import jax_rawcuda as rc
from jax_rawcuda import SessionError, SignatureError, ValidationError

pytestmark = pytest.mark.usefixtures("no_xla")

X = np.arange(5, dtype=np.float32)
INTS = X.astype(np.int32)
BIG = np.array([1.5, 2.0], ">f4")
ONE = rc.LaunchConfig(1, 32)


def command(body):
    """Records a command, in an op named f with the operand `x`."""
    return lambda: rc.op(body, name="f")(X)


def operand(value):
    """Calls an op named f with this operand."""
    return lambda: rc.op(filled, name="f")(value)


def filled(s, x):
    return s.alloc_output(1, jnp.float32, fill=0)


def stray(s, _x):
    return s.alloc_output(1, jnp.float32, fill=0)[:0]


def upload(data):
    return command(lambda s, _x: s.upload_bytes(data))


def workspace(*arguments, **keywords):
    return command(lambda s, _x: s.alloc_bytes(*arguments, **keywords))


OPERANDS = [
    Row(
        "a list",
        operand([1.0, 2.0]),
        SignatureError,
        "f: operand 'x[0]' is a Python float; it needs an array. Pass "
        "jnp.asarray(...) with an explicit dtype.",
    ),
    Row(
        "a text",
        operand("text"),
        SignatureError,
        "f: operand 'x' is a Python str; it needs an array. Pass jnp.asarray(...) "
        "with an explicit dtype.",
    ),
    Row(
        "an object",
        operand(object()),
        SignatureError,
        "f: operand 'x' is an object; it needs an array. Pass jnp.asarray(...) with "
        "an explicit dtype.",
    ),
    Row(
        "an array of objects",
        operand(np.array([None])),
        SignatureError,
        "f: operand 'x' is object, a dtype that JAX arrays cannot have.",
    ),
    Row(
        "an array of records",
        operand(np.zeros(2, [("a", "i4")])),
        SignatureError,
        "f: operand 'x' is [('a', '<i4')], a dtype that JAX arrays cannot have.",
    ),
    Row(
        "an array of foreign byte order",
        operand(np.zeros(2, ">f4")),
        SignatureError,
        "f: operand 'x' is >f4, a dtype that JAX arrays cannot have.",
    ),
    Row(
        "a PRNG key",
        operand(jax.random.key(0)),
        SignatureError,
        "f: operand 'x' is a typed PRNG key, which has no memory layout. Pass "
        "jax.random.key_data(key).",
    ),
    Row(
        "int4",
        operand(jnp.zeros(4, jnp.int4)),
        SignatureError,
        "f: operand 'x' is int4, whose 4-bit elements are packed on some platforms "
        "only. Pack them into uint8.",
    ),
    Row(
        "float64",
        operand(np.zeros(2)),
        SignatureError,
        "f: operand 'x' is float64, but JAX's 64-bit types are off and would make "
        'it float32. Convert it, or set jax.config.update("jax_enable_x64", True).',
    ),
    Row(
        "int64",
        operand(np.zeros(2, np.int64)),
        SignatureError,
        "f: operand 'x' is int64, but JAX's 64-bit types are off and would make it "
        'int32. Convert it, or set jax.config.update("jax_enable_x64", True).',
    ),
]


@table(OPERANDS)
def test_an_operand_is_refused(row):
    row.check()


COMMANDS = [
    Row(
        "copy of more than the destination",
        command(lambda s, x: s.copy_bytes(s.alloc_bytes(8), x)),
        ValidationError,
        "f: copy_bytes: the destination has 8 bytes, the source 20. Slice one of "
        "them or give nbytes=.",
    ),
    Row(
        "copy of a span beyond the destination",
        command(lambda s, x: s.copy_bytes(s.alloc_bytes(8), x, 12)),
        ValidationError,
        "f: copy_bytes: the destination has 8 bytes; 12 are needed.",
    ),
    Row(
        "copy onto itself",
        command(
            lambda s, _x: (lambda w: s.copy_bytes(w[2:6], w[:4]))(
                s.alloc_bytes(8, fill=0)
            )
        ),
        ValidationError,
        "f: copy_bytes: source and destination overlap.",
    ),
    Row(
        "copy to an operand",
        command(lambda s, x: s.copy_bytes(x, x)),
        SessionError,
        "f: copy_bytes: TensorRef(x: float32[5]) is read only. Write to an output, "
        "a workspace or s.tensor_mut(x).",
    ),
    Row(
        "copy of nothing",
        command(lambda s, _x: s.copy_bytes(s.alloc_bytes(4), s.alloc_bytes(4))),
        ValidationError,
        "f: copy_bytes: nothing has written the source 'workspace1' yet.",
    ),
    Row(
        "copy of an array",
        command(lambda s, _x: s.copy_bytes(s.alloc_bytes(4), X)),
        SignatureError,
        "f: needs a reference of this session, got ndarray. Wrap arrays with "
        "s.tensor(x).",
    ),
    Row(
        "fill with a large value",
        command(lambda s, _x: s.fill_bytes(s.alloc_bytes(4), 256)),
        ValidationError,
        "f: fill_bytes: value=256 is outside `uint8`, which holds 0 to 255.",
    ),
    Row(
        "fill with half of an integer",
        command(lambda s, _x: s.alloc_output(3, jnp.int8, fill=0.5)),
        ValidationError,
        "f: result 'output0'=0.5 is not an integer, but the parameter is `int8`. "
        "Convert it with int().",
    ),
    Row(
        "workspace of negative size",
        workspace(-1),
        ValidationError,
        "f: alloc_bytes: nbytes=-1; it needs an int that is not negative.",
    ),
    Row(
        "workspace of a huge size",
        workspace(1 << 64),
        ValidationError,
        "f: alloc_bytes: nbytes=18446744073709551616; the largest is "
        "4611686018427387904.",
    ),
    Row(
        "workspace at a multiple of 3",
        workspace(4, align=3),
        ValidationError,
        "f: alloc_bytes: align=3; it needs a power of two up to 256.",
    ),
    Row(
        "workspace at a multiple of 0",
        workspace(4, align=0),
        ValidationError,
        "f: alloc_bytes: align=0; it needs a power of two up to 256.",
    ),
    Row(
        "workspace at a negative multiple",
        workspace(4, align=-8),
        ValidationError,
        "f: alloc_bytes: align=-8; it needs an int that is not negative.",
    ),
    Row(
        "workspace at a multiple of 512",
        workspace(4, align=512),
        ValidationError,
        "f: alloc_bytes: align=512; it needs a power of two up to 256.",
    ),
    Row(
        "workspace at a multiple of 1.0",
        workspace(4, align=1.0),
        ValidationError,
        "f: alloc_bytes: align=1.0; it needs an int that is not negative.",
    ),
    Row(
        "workspace at a multiple of True",
        workspace(4, align=True),
        ValidationError,
        "f: alloc_bytes: align=True; it needs an int that is not negative.",
    ),
    Row(
        "workspace at a multiple of None",
        workspace(4, align=None),
        ValidationError,
        "f: alloc_bytes: align=None; it needs an int that is not negative.",
    ),
    Row(
        "upload of a number",
        upload(5),
        SignatureError,
        "f: upload_bytes needs bytes or a NumPy array of numbers, got a Python int.",
    ),
    Row(
        "upload of a bool",
        upload(True),
        SignatureError,
        "f: upload_bytes needs bytes or a NumPy array of numbers, got a Python bool.",
    ),
    Row(
        "upload of a NumPy number",
        upload(np.int32(5)),
        SignatureError,
        "f: upload_bytes needs bytes or a NumPy array of numbers, got int32[].",
    ),
    Row(
        "upload of a JAX number",
        upload(jnp.int32(5)),
        SignatureError,
        "f: upload_bytes needs bytes or a NumPy array of numbers, got int32[].",
    ),
    Row(
        "upload of a list",
        upload([1, 2]),
        SignatureError,
        "f: upload_bytes needs bytes or a NumPy array of numbers, got a Python list.",
    ),
    Row(
        "upload of a text",
        upload("text"),
        SignatureError,
        "f: upload_bytes needs bytes or a NumPy array of numbers, got a Python str.",
    ),
    Row(
        "upload of objects",
        upload(np.array([None])),
        SignatureError,
        "f: upload_bytes needs bytes or a NumPy array of numbers, got object[1].",
    ),
    Row(
        "upload of foreign byte order",
        upload(BIG),
        SignatureError,
        "f: upload_bytes is of foreign byte order (>f4). Convert it with "
        ".astype(dtype.newbyteorder('=')).",
    ),
    Row(
        "upload of a masked array",
        upload(np.ma.masked_array(X, X > 0)),
        SignatureError,
        "f: upload_bytes got a masked array. Fill it first.",
    ),
    Row(
        "result of negative extent",
        command(lambda s, _x: s.alloc_output((2, -1), jnp.float32)),
        ValidationError,
        "f: result 'output0': shape=-1; it needs an int that is not negative.",
    ),
    Row(
        "result of 64 bits",
        command(lambda s, _x: s.alloc_output(2, jnp.float64)),
        SignatureError,
        "f: result 'output0' is float64, but JAX's 64-bit types are off and would "
        'make it float32. Write that, or set jax.config.update("jax_enable_x64", '
        "True).",
    ),
    Row(
        "result of no dtype",
        command(lambda s, x: s.alloc_output(x.shape, "flat32", fill=0, name="named")),
        SignatureError,
        "f: result 'named' has dtype='flat32', which is no dtype. Give one such as "
        "jnp.float32.",
    ),
    Row(
        "part of an operand in place",
        command(lambda s, x: s.tensor_mut(x[1:])),
        SessionError,
        "f: tensor_mut needs a whole operand, got TensorRef(x: float32[4]).",
    ),
    Row(
        "slice with a step",
        command(lambda _s, x: x[::2]),
        ValidationError,
        "f: 'x': a slice with step 2 is not contiguous. Slice the array before the op.",
    ),
    Row(
        "index of two axes",
        command(lambda _s, x: x[0, 0]),
        ValidationError,
        "f: 'x': only ref[i] and ref[a:b] along the first axis are contiguous "
        "memory. Slice the array before the op.",
    ),
    Row(
        "offset beyond the end",
        command(lambda _s, x: x.at_bytes(21)),
        ValidationError,
        "f: 'x': byte offset 21 is outside of its 20 bytes.",
    ),
    Row(
        "reference as an array",
        command(lambda _s, x: jnp.asarray(x)),
        SessionError,
        "f: 'x' is a TensorRef: it has no values while the op is recorded. Compute "
        "with jax.numpy outside of the op.",
    ),
    Row(
        "sum with a reference",
        command(lambda _s, x: 1 + x),
        SessionError,
        "f: 'x' is a TensorRef, memory for kernels, and cannot be computed with. "
        "Use jax.numpy outside of the op, or a kernel.",
    ),
    Row(
        "product with a reference",
        command(lambda _s, x: jnp.ones(5) * x),
        SessionError,
        "f: 'x' is a TensorRef: it has no values while the op is recorded. Compute "
        "with jax.numpy outside of the op.",
    ),
    Row(
        "comparison of a reference",
        command(lambda _s, x: 0 if x > 0 else 1),
        SessionError,
        "f: 'x' is a TensorRef, memory for kernels, and cannot be computed with. "
        "Use jax.numpy outside of the op, or a kernel.",
    ),
    Row(
        "handle of the stream",
        command(lambda s, _x: s.stream().unsafe_raw_handle()),
        SessionError,
        "f: a recorded session has no stream handle. XLA chooses the stream when "
        "the compiled program runs: use rc.live_op.",
    ),
    Row(
        "number as a result",
        command(lambda _s, _x: 3),
        SignatureError,
        "f: returned int; an op returns references, such as s.alloc_output(...), in "
        "any pytree.",
    ),
    Row(
        "part of a result",
        command(stray),
        SessionError,
        "f: returned Output(output0: float32[0]), a part of an array or a "
        "workspace. Allocate results with s.alloc_output.",
    ),
    Row(
        "workspace as a result",
        command(lambda s, _x: s.alloc_bytes(4, fill=0)),
        SessionError,
        "f: returned DeviceBytes(workspace0: uint8[4]), a part of an array or a "
        "workspace. Allocate results with s.alloc_output.",
    ),
    Row(
        "result that nothing writes",
        command(lambda s, _x: s.alloc_output(4, jnp.float32)),
        ValidationError,
        "f: result 'output0' is never written: no launch with threads, copy or fill "
        "touches it. Launch a kernel on it, or allocate it with fill=.",
    ),
    Row(
        "no results",
        command(lambda s, x: s.copy_bytes(s.alloc_output(x.shape, x.dtype), x)),
        ValidationError,
        "f: it has no results, so XLA would never run it. Give the kernel out= or "
        "in_out=, return a result from the op, or say has_side_effect=True.",
    ),
    Row(
        "array among static arguments",
        lambda: rc.op(stray, name="f")(X, eps=jnp.ones(3)),
        SignatureError,
        "f: keyword argument 'eps' holds an array, but what can only be passed by "
        "keyword is static. Let the function take it by position.",
    ),
    Row(
        "method without a session",
        lambda: rc.op(lambda self: None, name="f"),  # noqa: ARG005
        SignatureError,
        "f: a method's second parameter is the session, such as `def f(self, s, x): "
        "...`.",
    ),
    Row(
        "method without an object",
        lambda: rc.op(lambda self, s: None, name="f")(),  # noqa: ARG005
        SignatureError,
        "f: it is a method, and is called without its object. Call it as "
        "object.<lambda>(...).",
    ),
]


@table(COMMANDS)
def test_a_command_is_refused(row):
    row.check()


@pytest.mark.parametrize("wrap", [rc.op, rc.live_op(out=X), rc.op(name="f")])
@pytest.mark.parametrize("body", [3, "f", lambda: 3, min])
def test_a_body_is_refused(wrap, body):
    with pytest.raises(rc.SignatureError) as caught:
        wrap(body)
    assert str(caught.value).partition(": ")[2] == (
        f"{body!r} is no function whose first parameter is the session, such as "
        "`def f(s, x): ...`."
    )


# Launches


def launch(*arguments, function=SAXPY, config=ONE):
    """Records one launch; a function among the arguments is called with (s, x, out)."""

    @rc.op(name="f")
    def body(s, x):
        out = s.alloc_output(x.shape, x.dtype)
        made = [a(s, x, out) if callable(a) else a for a in arguments]
        s.launch(function, config, *made)
        return out

    return lambda: body(X)


def x(_s, x, _out):
    return x


def out(_s, _x, out):
    return out


def tensor(array):
    return lambda s, _x, _out: s.tensor(array, name="y")


def in_place(s, x, _out):
    s.tensor_mut(x)
    return x


def unaligned(s, _x, _out):
    return s.tensor(np.zeros(8, np.float32))[1:5]


def unwritten(s, _x, _out):
    return s.alloc_bytes(20)


def first(s, _x, out):
    s.fill_bytes(out, 0)
    return out[0]


def x_part(_s, x, _out):
    return x[:3]


WIDE = FakeFunction("wide(const float* x, double a, float* out)")
LANES = FakeFunction("lanes(float4 v, float* out)")
PAIR = FakeFunction("pair(float2 v, float* out)")
STRUCT = FakeFunction("struct(Params p, float* out)")
VEC4 = FakeFunction("vec4(const float4* x, float4* out)")
HALF = FakeFunction("half(const __half* x, float* out)")
FLAG = FakeFunction("flag(const bool* x, float* out)")
VOID = FakeFunction("any(const void* x, void* out)")
LONG = FakeFunction("index(const long long* x, float* out)")
POINTERS = FakeFunction("table(const float** x, float* out)")

LAUNCHES = [
    Row(
        "another dtype",
        launch(x, tensor(INTS), 2.0, out, 5),
        SignatureError,
        "saxpy: operand 'y' is int32, but parameter `const float* y` needs float32. "
        'Cast with y.astype("float32"), or reinterpret with .view.',
    ),
    Row(
        "float64 from NumPy",
        launch(x, tensor(X.astype(np.float64)), 2.0, out, 5),
        SignatureError,
        "saxpy: operand 'y' is float64, but parameter `const float* y` needs "
        'float32. Cast with y.astype("float32").',
    ),
    Row(
        "too few arguments",
        launch(x, x, 2.0),
        SignatureError,
        "saxpy: expected 5 arguments (x, y, a, out, n), got 3.",
    ),
    Row(
        "operand for a result",
        launch(x, x, 2.0, x, 5),
        SignatureError,
        "saxpy: operand 'x' is a read-only TensorRef, but parameter `float* out` "
        "may write to it. Declare the parameter const, or use s.tensor_mut(x) for "
        "in-place use.",
    ),
    Row(
        "scalar of another dtype",
        launch(x, x, jnp.int32(2), out, 5),
        SignatureError,
        "saxpy: scalar 'a' is int32[], but parameter `float a` needs float32[]. Cast "
        'with a.astype("float32").',
    ),
    Row(
        "scalar of a dtype that is turned off",
        launch(x, jnp.float32(2), out, function=WIDE),
        SignatureError,
        "wide: scalar 'a' is float32[], but parameter `double a` needs float64[]. Set "
        'jax.config.update("jax_enable_x64", True) and cast with a.astype("float64"), '
        "or pass a static Python number (static_argnames).",
    ),
    Row(
        "weak float for an integer",
        launch(x, x, 2.0, out, jnp.asarray(5.0)),
        SignatureError,
        "saxpy: scalar 'n' is float32[], but parameter `int n` needs int32[]. Cast "
        'with n.astype("int32").',
    ),
    Row(
        "several numbers for one",
        launch(x, x, x, out, 5),
        ValidationError,
        "saxpy: scalar 'a' is float32[5], but parameter `float a` needs float32[]. "
        "Pass one element, such as a[0].",
    ),
    Row(
        "PRNG key for a number",
        launch(x, x, jax.random.key(0), out, 5),
        SignatureError,
        "f: operand 'a' is a typed PRNG key, which has no memory layout. Pass "
        "jax.random.key_data(key).",
    ),
    Row(
        "too many bytes for a number",
        launch(x, x, lambda s, *_: s.alloc_bytes(8, fill=0), out, 5),
        ValidationError,
        "saxpy: scalar 'a' has 8 bytes, but parameter `float a` needs 4. Slice it.",
    ),
    Row(
        "number at an odd place",
        launch(x, x, lambda s, *_: s.alloc_bytes(8, fill=0)[2:6], out, 5),
        ValidationError,
        "saxpy: scalar 'a' starts at byte 2, but parameter `float a` needs a multiple "
        "of 4.",
    ),
    Row(
        "number that nothing wrote",
        launch(x, x, lambda s, *_: s.alloc_bytes(4), out, 5),
        ValidationError,
        "saxpy: scalar 'a' is read from 'workspace1', but nothing has written it yet. "
        "Launch its producer first, or allocate it with fill=.",
    ),
    Row(
        "number that the launch writes",
        launch(x, x, first, out, 5),
        ValidationError,
        "saxpy: scalar 'a' is read from 'out', which the same launch may write. Copy "
        "it to a workspace before.",
    ),
    Row(
        "lanes of another dtype",
        launch(jnp.ones(4, jnp.int32), out, function=LANES),
        SignatureError,
        "lanes: scalar 'v' is int32[4], but parameter `float4 v` needs float32[4]. "
        'Cast with v.astype("float32").',
    ),
    Row(
        "three lanes of four",
        launch(x_part, out, function=LANES),
        ValidationError,
        "lanes: scalar 'v' is float32[3], but parameter `float4 v` needs float32[4]. "
        "Pass that many.",
    ),
    Row(
        "a pair as something else",
        launch(x_part, out, function=PAIR),
        ValidationError,
        "pair: scalar 'v' is float32[3], but parameter `float2 v` needs float32[2] or "
        "complex64[]. Pass that many.",
    ),
    Row(
        "numbers for a struct",
        launch(jnp.ones(4), out, function=STRUCT),
        SignatureError,
        "struct: scalar 'p' is float32[4], but parameter `Params p` needs uint8[16]. "
        "An array holds a struct as its bytes.",
    ),
    Row(
        "too few bytes for a struct",
        launch(jnp.ones(15, jnp.uint8), out, function=STRUCT),
        ValidationError,
        "struct: scalar 'p' is uint8[15], but parameter `Params p` needs uint8[16]. "
        "Pass that many.",
    ),
    Row(
        "number for a pointer",
        launch(1.0, x, 2.0, out, 5),
        SignatureError,
        "saxpy: argument 'x' is a Python float, but parameter `const float* x` is a "
        "pointer. Pass a reference of this session.",
    ),
    Row(
        "NumPy number for a pointer",
        launch(np.float32(1), x, 2.0, out, 5),
        SignatureError,
        "saxpy: argument 'x' is float32[], but parameter `const float* x` is a "
        "pointer. Pass a reference of this session.",
    ),
    Row(
        "KernelArg for a pointer",
        launch(rc.KernelArg.f32(1), x, 2.0, out, 5),
        SignatureError,
        "saxpy: argument 'x' is KernelArg.f32, a scalar, but parameter `const "
        "float* x` is a pointer.",
    ),
    Row(
        "array for a pointer",
        launch(X, x, 2.0, out, 5),
        SignatureError,
        "saxpy: argument 'x' is an array that this session does not know "
        "(float32[5]). Pass it to the op by position, or wrap it with s.tensor(x).",
    ),
    Row(
        "half of an int",
        launch(x, x, 2.0, out, 5.5),
        ValidationError,
        "saxpy: scalar 'n'=5.5 is not an integer, but the parameter is `int`. "
        "Convert it with int().",
    ),
    Row(
        "int out of range",
        launch(x, x, 2.0, out, 2**31),
        ValidationError,
        "saxpy: scalar 'n'=2147483648 is outside `int`, which holds -2147483648 to "
        "2147483647.",
    ),
    Row(
        "int that no float is",
        launch(x, x, 2**24 + 1, out, 5),
        ValidationError,
        "saxpy: scalar 'a'=16777217 (int) is not exact in `float`. Pass "
        "float(value) to round it.",
    ),
    Row(
        "list for a number",
        launch(x, x, [2.0], out, 5),
        SignatureError,
        "saxpy: scalar 'a' is a list; it needs a number.",
    ),
    Row(
        "number for a config",
        launch(x, x, 2.0, out, 5, config=4),
        SignatureError,
        "f: launch needs (function, LaunchConfig, *args), got (FakeFunction, int, "
        "...).",
    ),
    Row(
        "text for a function",
        launch(x, function="saxpy"),
        SignatureError,
        "f: launch needs (function, LaunchConfig, *args), got (str, LaunchConfig, "
        "...).",
    ),
    Row(
        "five floats for vectors",
        launch(x, out, function=VEC4),
        ValidationError,
        "vec4: operand 'x' has shape (5,), but parameter `const float4* x` needs a "
        "last axis that is a multiple of 4 float32. Pad it.",
    ),
    Row(
        "vectors at byte 4",
        launch(unaligned, None, function=VEC4),
        ValidationError,
        "vec4: operand 'operand1' starts at byte 4, but parameter `const float4* x` "
        "needs a multiple of 16.",
    ),
    Row(
        "floats for halves",
        launch(x, out, function=HALF),
        SignatureError,
        "half: operand 'x' is float32, but parameter `const __half* x` needs "
        'float16. Cast with x.astype("float16").',
    ),
    Row(
        "floats for bools",
        launch(x, out, function=FLAG),
        SignatureError,
        "flag: operand 'x' is float32, but parameter `const bool* x` needs bool. "
        'Cast with x.astype("bool").',
    ),
    Row(
        "int32 for int64",
        launch(tensor(INTS), out, function=LONG),
        SignatureError,
        "index: operand 'y' is int32, but parameter `const long long* x` needs "
        'int64. Set jax.config.update("jax_enable_x64", True) and cast with '
        'y.astype("int64").',
    ),
    Row(
        "floats for addresses",
        launch(x, out, function=POINTERS),
        SignatureError,
        "table: operand 'x' cannot stand for `float* const* x`: an array holds no "
        "addresses.",
    ),
    Row(
        "workspace that nothing wrote",
        launch(unwritten, x, 2.0, out, 5),
        ValidationError,
        "saxpy: operand 'workspace1' is read through `const float* x`, but nothing "
        "has written it yet. Launch its producer first, or allocate it with fill=.",
    ),
    Row(
        "operand that is used in place",
        launch(in_place, x, 2.0, out, 5),
        SessionError,
        "f: operand 'x' is used in place. Use what s.tensor_mut returned instead.",
    ),
    Row(
        "result that nothing writes",
        launch(x, x, 2.0, unwritten, 5),
        ValidationError,
        "f: result 'output0' is never written: no launch with threads, copy or fill "
        "touches it. Launch a kernel on it, or allocate it with fill=.",
    ),
    Row(
        "result that no thread writes",
        launch(x, x, 2.0, out, 5, config=rc.LaunchConfig(0, 32)),
        ValidationError,
        "f: result 'out' is never written: no launch with threads, copy or fill "
        "touches it. Launch a kernel on it, or allocate it with fill=.",
    ),
]


@table(LAUNCHES)
def test_a_launch_is_refused(row):
    row.check()


@pytest.mark.parametrize(
    ("function", "array"),
    [
        (VOID, X.view(np.int32)),
        (FLAG, np.zeros(4, np.bool_)),
        (VEC4, np.ones((3, 8), np.float32)),
    ],
    ids=["void", "bool", "float4"],
)
def test_a_launch_is_taken(function, array):
    @rc.op
    def body(s, x):
        s.launch(function, ONE, x, s.alloc_bytes(64))
        return s.alloc_output(1, jnp.float32, fill=0)

    with pytest.raises(AssertionError, match="the primitive was bound"):
        body(array)


def test_errors_are_the_builtin_kinds_too():
    kinds = {
        rc.ValidationError: ValueError,
        rc.SignatureError: TypeError,
        rc.SessionError: RuntimeError,
        rc.UnsupportedError: NotImplementedError,
        rc.BackendError: RuntimeError,
        rc.CompileError: Exception,
    }
    for error, kind in kinds.items():
        assert issubclass(error, kind)
        assert issubclass(error, rc.RawCudaError)
    error = rc.BackendError("text", code="CUDA_ERROR_NO_DEVICE")
    assert error.code == "CUDA_ERROR_NO_DEVICE"
