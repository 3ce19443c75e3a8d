"""One row per wrong operand or command of a session: what it says.

Every row is raised by Python while recording; none reaches XLA.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc

pytestmark = pytest.mark.usefixtures("no_xla")

X = np.arange(5, dtype=np.float32)

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
    "sum": (
        lambda _s, x: 1 + x,
        rc.SessionError,
        "is a TensorRef, memory for kernels, and cannot be computed with. Use jax",
    ),
    "product": (
        lambda _s, x: jnp.ones(5) * x,
        rc.SessionError,
        "it has no values while the op is recorded",
    ),
    "comparison": (
        lambda _s, x: 0 if x > 0 else 1,
        rc.SessionError,
        "memory for kernels, and cannot be computed with",
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


@pytest.mark.parametrize("wrap", [rc.op, rc.live_op(out=X), rc.op(name="f")])
@pytest.mark.parametrize("body", [3, "f", lambda: 3, min])
def test_what_is_no_body(wrap, body):
    with pytest.raises(rc.SignatureError) as caught:
        wrap(body)
    assert str(caught.value).partition(": ")[2] == (
        f"{body!r} is no function whose first parameter is the session, such as "
        "`def f(s, x): ...`."
    )


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
