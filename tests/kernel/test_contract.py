"""What `rc.kernel` refuses in a declaration, and in the arguments of a call."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc
from jax_rawcuda import SignatureError, ValidationError

SOURCE = """
extern "C" __global__ void scale(const float* x,  // f32[n]
                                 float* out,      // f32[n]
                                 int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * x[i];
}"""
X = np.random.default_rng(5).standard_normal(37).astype(np.float32)


def scale(**contract):
    return rc.kernel(SOURCE, **{"shapes": "n -> n", "threads": "n", **contract})


@pytest.mark.parametrize(
    ("contract", "error", "text"),
    [
        (
            {"in_out": "x"},
            SignatureError,
            r"^scale: in_out names 'x', which is no pointer that the kernel may "
            r"write\. Choose from: out\.$",
        ),
        (
            {"out": jax.ShapeDtypeStruct((37,), np.int32)},
            SignatureError,
            r"^scale: out makes result 'out' int32, but parameter `float\* out` needs "
            r"float32\. Declare it so\.$",
        ),
        (
            {"threads": None, "launch": lambda *_: 3},
            ValidationError,
            r"^scale: launch returned 3; it must return a LaunchConfig\.$",
        ),
        (
            {"shapes": "n, n -> n"},
            SignatureError,
            r'^scale: shapes="n, n -> n" describes 2 operands; '
            r"the kernel has 1 \(x\)\.$",
        ),
        (
            {"shapes": "-> n"},
            SignatureError,
            r'^scale: shapes="-> n" describes 0 operands; the kernel has 1 \(x\)\.$',
        ),
        (
            {"shapes": "n -> n, n"},
            SignatureError,
            r"^scale: 2 results declared; the kernel writes 1 \(out\) that ",
        ),
    ],
)
def test_a_declaration_that_does_not_fit_the_kernel(contract, error, text):
    with pytest.raises(error, match=text):
        scale(**contract)(X)


@pytest.mark.parametrize("name", [3, b"scale"])
def test_a_name_that_is_no_text(name):
    with pytest.raises(ValidationError) as caught:
        rc.kernel(SOURCE, name, shapes="n -> n", threads="n")
    assert str(caught.value) == (
        f"kernel: name={name!r}; it needs the kernel's name, as text."
    )


def test_a_result_without_a_dtype():
    kernel = rc.kernel(
        'extern "C" __global__ void k(void* out) {}', shapes=" -> 3", threads=3
    )
    with pytest.raises(
        SignatureError,
        match=r"^k: result 'out' is `void\*`, which has no array dtype\. Declare the "
        r"results with out=\.$",
    ):
        kernel()


COPY = """__global__ void copy(const float2* a, const float2* b, float2* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = make_float2(a[i].x + b[i].x, a[i].y + b[i].y);
}"""


@pytest.mark.parametrize(
    ("c_type", "dtype"),
    [
        ("float2", np.complex64),
        ("char", np.int8),
        ("char", np.uint8),
        ("cuFloatComplex", np.complex64),
    ],
)
@pytest.mark.parametrize("target", ["operand", "in place"])
def test_results_are_read_as_the_operands_of_their_type(c_type, dtype, target, rng):
    """Half of the bytes, where a complex operand had a float32 result."""
    const, in_out = ("const ", ()) if target == "operand" else ("", ("x",))
    kernel = rc.kernel(
        f"""#include <cuComplex.h>
        __global__ void same({const}{c_type}* x, {c_type}* out, int n) {{
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) out[i] = x[i];
        }}""",
        shapes="n -> n",
        threads="n",
        in_out=in_out,
    )
    x = rng.integers(0, 100, 77).astype(dtype)
    for f in (kernel, jax.jit(kernel)):
        results = jax.tree.leaves(f(x))
        assert {r.dtype for r in results} == {np.dtype(dtype)}
        for result in results:
            np.testing.assert_array_equal(result, x)


def test_operands_of_one_type_that_are_read_differently():
    kernel = rc.kernel(COPY, shapes="n, m -> n", threads="n")
    c, f = np.ones(4, np.complex64), np.ones(8, np.float32)
    with pytest.raises(
        SignatureError,
        match=r"^copy: result 'out' is `float2\*`, and operands of that type are "
        r"complex64 and float32\. Declare the results with out=\.$",
    ):
        kernel(c, f)


def test_a_template_argument_without_a_spelling():
    kernel = rc.kernel(
        "template <typename T> __global__ void k(const T* x, T* out) {}",
        shapes="n -> n",
        threads="n",
        template=[np.dtype("datetime64[s]")],
    )
    with pytest.raises(
        ValidationError, match=r"^k: template argument .* has no C\+\+ spelling\."
    ):
        kernel(X)


def test_a_traced_dimension():
    with pytest.raises(
        SignatureError,
        match=r"^scale: scalar 'n' is traced, but it is a dimension of the shapes\. "
        r"Leave it out",
    ):
        jax.jit(lambda x, n: scale()(x, n))(X, 37)


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (4, r"scalar 'n' is 4, but the operands make n=37 \(shapes=\"n -> n\"\)\. "),
        (rc.KernelArg.i32(38), r"scalar 'n' is 38, but .* n=37"),
        (-1, r"scalar 'n' is -1, but .* n=37 .*Leave it out, or slice the operands\."),
    ],
)
def test_a_dimension_that_disagrees_with_the_operands(n, text):
    # A smaller n would leave the end of the result unwritten.
    with pytest.raises(ValidationError, match="^scale: " + text):
        jax.jit(lambda x: scale()(x, n))(X)


@pytest.mark.parametrize("n", [37.5, "37", None, [37]])
def test_a_dimension_that_is_no_integer(n):
    with pytest.raises(rc.RawCudaError, match=r"^scale: scalar 'n'( is |=37\.5 is )"):
        scale()(X, n)


@pytest.mark.parametrize("template", [np.float32, jnp.float32, np.dtype("f4"), "float"])
def test_a_template_argument_needs_no_list(template):
    kernel = rc.kernel(
        """template <typename T> __global__ void twice(const T* x, T* out, int n) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) out[i] = x[i] + x[i];
        }""",
        shapes="n -> n",
        threads="n",
        template=template,
    )
    np.testing.assert_array_equal(kernel(X), 2 * X)


@pytest.mark.parametrize("n", [37, np.int64(37), rc.KernelArg.i32(37)])
def test_a_dimension_may_be_given(n):
    np.testing.assert_array_equal(jax.jit(lambda x: scale()(x, n))(X), 2 * X)


def test_a_dimension_that_no_operand_fixes():
    kernel = rc.kernel(
        """extern "C" __global__ void iota(int* out, int n) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) out[i] = i;
        }""",
        shapes=" -> n",
        threads="n",
    )
    np.testing.assert_array_equal(kernel(70), jnp.arange(70))
