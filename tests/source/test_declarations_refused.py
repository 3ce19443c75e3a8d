"""Declarations of kernels that are refused, each with its message."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import jax_rawcuda as rc
from jax_rawcuda import ValidationError

SOURCE = """
__global__ void twice(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * x[i];
}"""
TEMPLATE = "template <typename T> __global__ void k(const T* x, T* out) {}"
X = np.random.default_rng(5).standard_normal(37).astype(np.float32)
CONFIG = rc.LaunchConfig(1, 64)


def declare(**contract):
    return rc.kernel(SOURCE, **{"shapes": "n -> n", "threads": "n", **contract})


@pytest.mark.parametrize(
    ("contract", "text"),
    [
        (
            {"threads": 5.5},
            r"threads has 5\.5; it needs ints that are not negative,",
        ),
        ({"threads": -3}, r"threads has -3; it needs ints that are not negative"),
        ({"threads": "m"}, r"threads reads 'm', which shapes=\"n -> n\" does not name"),
        ({"shared_mem_bytes": "4*m"}, r"shared_mem_bytes reads 'm', which shapes="),
        *(
            (
                {what: given},
                rf"{what} has a function; it needs ints(, or text over dimensions)?\. "
                r"Use launch=, a function that returns a LaunchConfig, instead of "
                r"threads= and block=\.$",
            )
            for what in ("threads", "block")
            for given in (len, (4, len))
        ),
        ({"threads": ()}, r"threads has 0 axes; it needs one to three\."),
        ({"threads": "4 4 4 4"}, r"threads has 4 axes; it needs one to three\."),
        ({"shared_mem_bytes": 64.0}, r"shared_mem_bytes has 64\.0; it needs ints"),
        ({"shared_mem_bytes": None}, r"shared_mem_bytes has None; it needs ints"),
        ({"shared_mem_bytes": "()"}, r"shared_mem_bytes has 0 axes"),
        (
            {"shared_mem_bytes": "4*n 8"},
            r"shared_mem_bytes='4\*n 8'; it needs one",
        ),
        (
            {"shared_mem_bytes": (4, 8)},
            r"shared_mem_bytes=\(4, 8\); it needs one",
        ),
        ({"in_out": None}, r"in_out=None; it needs a parameter's name, or several\."),
        ({"in_out": 5}, r"in_out=5; it needs a parameter's name, or several\."),
        ({"shapes": "n -> 2n"}, r"shapes needs '\*' or a space between a number and a"),
        (
            {"threads": None, "launch": CONFIG, "block": 64},
            r"block= and shared_mem",
        ),
        (
            {"threads": None, "launch": CONFIG, "shared_mem_bytes": 64},
            r"block= and shared_mem_bytes= go with threads=\. With launch= they stand "
            r"in the LaunchConfig\.$",
        ),
    ],
)
def test_a_declaration_that_is_refused(contract, text):
    with pytest.raises(ValidationError, match="^twice: " + text):
        declare(**contract)


@pytest.mark.parametrize(
    ("contract", "text"),
    [
        (
            {"out": "float32"},
            r"out gives 'float32' for result 'out'; ",
        ),
        (
            {"shapes": "n -> 9223372036854775808"},
            r"9223372036854775808 is .*largest",
        ),
        ({"shapes": "n -> n*9223372036854775807"}, r"\(n\*9223372036854775807\) is "),
    ],
)
def test_a_call_that_is_refused(contract, text):
    with pytest.raises(ValidationError, match="^twice: " + text):
        declare(**contract)(X)


def broken(*_):
    raise TypeError("broken")


def declare_with(what, function):
    """A kernel with a function in its declaration, which gets an array and a number."""
    if what == "template":
        return rc.kernel(
            "template <class T> __global__ void twice(const T* x, T* out, float a) {}",
            shapes="n -> n",
            threads="n",
            template=function,
        )
    source = SOURCE.replace("int n", "float a, int n")
    contract = {"launch" if what == "launch" else "threads": CONFIG.grid}
    return rc.kernel(source, **{"shapes": "n -> n", **contract, what: function})


@pytest.mark.parametrize("what", ["out", "launch", "shared_mem_bytes", "template"])
def test_an_error_in_a_function_of_the_users_is_theirs_with_a_note(what):
    with pytest.raises(TypeError, match=r"^broken\n") as error:
        declare_with(what, broken)(X, 2.0)
    (note,) = error.value.__notes__
    shown = "[ShapeDtypeStruct(shape=(37,), dtype=float32), 2.0]"
    assert note == f"twice: in {what}=, called with {shown}."


@pytest.mark.parametrize(
    ("what", "given"),
    [
        ("out", "x, a"),
        ("launch", "x, a"),
        ("shared_mem_bytes", "x, a"),
        ("template", r"float32\[37\], a Python float"),
    ],
)
@pytest.mark.parametrize(
    ("function", "taken"),
    [(lambda x: x, r"\(x\)"), (lambda x, a, b: (x, a, b), r"\(x, a, b\)")],
)
def test_a_function_that_takes_other_arguments(what, given, function, taken):
    text = (
        f"^twice: {what}= takes {taken}, but it is called with the arguments of the "
        rf"call, \({given}\)\. Let it take these\.$"
    )
    with pytest.raises(rc.SignatureError, match=text):
        declare_with(what, function)(X, 2.0)


def test_a_function_of_a_live_op_that_takes_other_arguments():
    live = rc.live_op(lambda s, x, out: None, name="f", out=lambda: X)  # noqa: ARG005
    with pytest.raises(
        rc.SignatureError,
        match=r"^f: out= takes \(\), but it is called with the arguments of the call, "
        r"\(x\)\. Let it take these\.$",
    ):
        live(X)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        (3.5, r"k: template gives 3\.5; it needs dtypes, ints, bools or C\+\+ text"),
        (lambda _: None, r"k: template gives None; it needs dtypes"),
        ([3.0], r"k: template argument 3\.0 has no C\+\+ spelling\."),
        ([None], r"k: template argument None has no C\+\+ spelling\."),
        ([str], r"k: template argument <class 'str'> has no C\+\+ spelling\."),
    ],
)
def test_template_arguments_that_are_refused(template, text):
    kernel = rc.kernel(TEMPLATE, shapes="n -> n", threads="n", template=template)
    with pytest.raises(ValidationError, match=text):
        kernel(X)


@pytest.mark.parametrize("threads", [np.int64(37), 37, "37", (np.int32(37), 1), ["n"]])
@pytest.mark.parametrize("shared", [np.int64(64), 64, "2*32"])
def test_what_counts_as_an_int(threads, shared):
    kernel = declare(threads=threads, shared_mem_bytes=shared)
    np.testing.assert_array_equal(kernel(X), 2 * X)


@rc.op
def upload(s, x, *, data):
    s.upload_bytes(data)
    return x


@pytest.mark.parametrize(
    "data", [5, True, np.int32(5), jnp.int32(5), [1, 2], "text", np.array([None])]
)
def test_constants_that_are_no_bytes(data):
    if isinstance(data, jnp.ndarray):
        with pytest.raises(rc.SignatureError, match="holds an array"):
            upload(X, data=data)
        return
    with pytest.raises(
        rc.SignatureError,
        match=r"^upload: upload_bytes needs bytes or a NumPy array of numbers, got ",
    ):
        upload(X, data=data)


def test_a_masked_array():
    masked = np.ma.masked_array(X, X > 0)
    with pytest.raises(rc.SignatureError, match="operand 'x' is a masked array; fill"):
        declare()(masked)


def test_a_result_of_no_dtype():
    @rc.op
    def broken(s, x):
        return s.alloc_output(x.shape, "flat32", fill=0, name="named")

    with pytest.raises(
        rc.SignatureError, match=r"^broken: result 'named' has dtype='flat32', which "
    ):
        broken(X)


def test_a_symbolic_shape():
    (size,) = export.symbolic_shape("b")
    spec = jax.ShapeDtypeStruct((size,), jnp.float32)
    with pytest.raises(
        rc.SignatureError,
        match=r"^twice: operand 'x' has the symbolic shape \(b,\), but launches are ",
    ):
        export.export(jax.jit(lambda x: declare()(x)))(spec)


BIG = np.array([1.5, 2.0], ">f4")


def test_bytes_of_foreign_order():
    text = r" is of foreign byte order \(>f4\)\. Convert it with \.astype\("
    with pytest.raises(rc.SignatureError, match="^upload: upload_bytes" + text):
        upload(X, data=BIG)
    with pytest.raises(rc.SignatureError, match=r"^KernelArg\.scalar: value" + text):
        rc.KernelArg.scalar(BIG)
    module = rc.compile_nvrtc(
        """struct Pair { float a, b; };
        __constant__ Pair pair = {1, 2};
        __global__ void k(float* out) { out[0] = pair.a; }"""
    )
    with pytest.raises(rc.SignatureError, match="variable 'pair'" + text):
        module.global_("pair").set(BIG)


def test_constants_that_are_masked():
    masked = np.ma.masked_array(X, X > 0)
    with pytest.raises(rc.SignatureError, match="upload_bytes got a masked array"):
        upload(X, data=masked)


@rc.op
def workspace(s, x, *, size=64, align=256):
    s.alloc_bytes(size, align)
    return x


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        (
            {"size": 1 << 64},
            r"nbytes=18446744073709551616; the largest is 46116860184",
        ),
        ({"align": 1.0}, r"align=1\.0; it needs an int that is not negative\."),
        ({"align": True}, r"align=True; it needs an int"),
        ({"align": None}, r"align=None; it needs an int"),
    ],
)
def test_workspaces_of_no_size(sizes, text):
    with pytest.raises(ValidationError, match="^workspace: alloc_bytes: " + text):
        workspace(X, **sizes)
