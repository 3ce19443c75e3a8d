"""Dimensions as template arguments."""

from __future__ import annotations

import re
import typing

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc

SUMS = """
template <typename T, int cols, int half> __global__ void sums(
    const T* __restrict__ x, T* out, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T kept[cols + 1];
  for (int i = 0; i < cols; ++i) kept[i] = x[row * cols + i];
  T sum = half;
  for (int i = 0; i < cols; ++i) sum += kept[i];
  out[row] = sum;
}"""
HIST = """
template <int bins> __global__ void hist(const int* x, int* counts, int n) {
  __shared__ int own[bins];
  for (int i = threadIdx.x; i < bins; i += blockDim.x) own[i] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&own[x[i] % bins], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x) atomicAdd(&counts[i], own[i]);
}"""


def sums(template=("float", "cols", "cols//2"), source=SUMS, **contract):
    contract = {"shapes": "*rows cols -> *rows", "threads": "rows", **contract}
    return rc.kernel(source, "sums", template=template, **contract)


def expected(x):
    return np.asarray(x).sum(-1) + x.shape[-1] // 2


def random(rng, *shape):
    return rng.integers(-9, 9, shape).astype(np.float32)


@pytest.mark.parametrize(
    "template",
    [
        ("float", "cols", "cols//2"),
        (np.float32, " cols ", "(cols + 0)//2"),
        lambda x: (x.dtype, "cols", "cols//2"),
        lambda x: (x.dtype, x.shape[-1], "(cols-cols%2)//2"),
    ],
)
def test_text_over_dimensions_is_its_value(template, rng):
    kernel = sums(template)
    for shape in [(5, 3), (2, 2, 4), (3,), (0, 2), (2, 0)]:
        x = random(rng, *shape)
        for f in (kernel, jax.jit(kernel)):
            np.testing.assert_array_equal(f(x), expected(x))
            np.testing.assert_array_equal(f(x=x), expected(x))


def test_a_call_that_is_repeated(rng):
    kernel = sums()
    for shape in [(5, 3), (5, 4), (5, 3)]:
        x = jnp.asarray(random(rng, *shape))
        np.testing.assert_array_equal(kernel(x), expected(x))


def test_the_product_of_a_group_and_one_element_of_a_batch(rng):
    x = random(rng, 4, 2, 3)
    flat = sums(("float", "cols", "rows"))
    np.testing.assert_array_equal(flat(x), x.sum(-1) + 8)
    np.testing.assert_array_equal(jax.vmap(flat)(x), x.sum(-1) + 2)


def test_a_dimension_that_comes_by_keyword(rng):
    hist = rc.kernel(HIST, shapes="n -> bins", threads="n", template="bins", fill=0)
    x = rng.integers(0, 100, 600, np.int32)
    for bins in (5, 16):
        counts = np.bincount(x % bins, minlength=bins)
        np.testing.assert_array_equal(hist(x, bins=bins), counts)
    with pytest.raises(
        rc.ValidationError,
        match=r"^hist: no operand has dimension 'bins' of the results \(known: n=600\)",
    ):
        hist(x)


def test_a_dimension_wins_over_a_name_of_cpp(rng):
    source = f"constexpr int cols = 99, other = 7; {SUMS}"
    source = source.replace("int cols, int half>", "int N, int half>")
    source = source.replace("T kept[cols + 1]", "constexpr int cols = N; T kept[N + 1]")
    x = random(rng, 5, 3)
    np.testing.assert_array_equal(
        sums(("float", "cols", "other"), source)(x), x.sum(-1) + 7
    )
    np.testing.assert_array_equal(
        sums(("float", "3", "sizeof(double)"), source)(x), x.sum(-1) + 8
    )


def test_in_an_op(rng):
    kernel = sums()

    @rc.op
    def both(s, x):
        copy = s.alloc_output(x.shape, x.dtype)
        s.copy_bytes(copy, x)
        return kernel(copy), kernel(x[1:3])

    x = random(rng, 5, 3)
    whole, part = both(x)
    np.testing.assert_array_equal(whole, expected(x))
    np.testing.assert_array_equal(part, expected(x[1:3]))


def test_untyped_bytes(rng):
    source = SUMS.replace("const T*", "const float*")

    def in_an_op(kernel):
        @rc.op
        def copied(s, x):
            copy = s.alloc_bytes(x.nbytes)
            s.copy_bytes(copy, x)
            return kernel(copy)

        return copied

    x = random(rng, 6)
    np.testing.assert_array_equal(in_an_op(sums(source=source))(x), expected(x))
    text = (
        "sums: operand 'x' is untyped bytes, whose number of elements template= reads "
        "before their type is known. Give template= a function of the call's arguments."
    )
    with pytest.raises(rc.SignatureError, match=f"^{re.escape(text)}$"):
        in_an_op(sums())(x)
    by_function = sums(lambda x: ("float", x.shape[0] // 4, x.shape[0] // 8))
    np.testing.assert_array_equal(in_an_op(by_function)(x), expected(x))


DECLARATION = "const T* __restrict__ x, T* out, int rows"
HIDDEN = {
    "a macro": SUMS.replace(DECLARATION, "const T* x, OUT").replace(
        "template <typename T", "#define OUT T* out, int rows\ntemplate <typename T", 1
    ),
    "an overload": SUMS
    + "template <class T, int a, int b> __global__ void sums(T*) {}",
}


@pytest.mark.parametrize("source", HIDDEN.values(), ids=HIDDEN)
def test_parameters_that_the_text_does_not_show(source, rng):
    text = (
        "sums: template= reads dimensions, for which the text must show the kernel's "
        "parameters; a header, a macro, an alias or an overload hides them. Give "
        "template= a function of the call's arguments."
    )
    with pytest.raises(rc.SignatureError, match=f"^{re.escape(text)}$"):
        sums(source=source)(random(rng, 5, 3))


def test_an_alias_that_makes_a_result_a_number(rng):
    source = SUMS.replace("T* out", "floats out")
    kernel = sums(source=f"using floats = float*;{source}")
    x = random(rng, 5, 3)
    with pytest.raises(
        rc.SignatureError, match=r"^sums: expected 2 arguments \(x, out\)"
    ):
        kernel(x)
    with pytest.raises(rc.SignatureError, match="a header, a macro, an alias or an "):
        kernel(x, 1.0)


def test_a_kernel_of_a_header(rng):
    options = rc.NvrtcOptions(headers={"sums.h": SUMS})
    source = '#include "sums.h"\n__global__ void other() {}'
    x = random(rng, 5, 3)
    with pytest.raises(rc.SignatureError, match="a header, a macro, an alias or an "):
        sums(source=source, options=options)(x)
    by_function = sums(lambda x: ("float", x.shape[1], 1), source, options=options)
    np.testing.assert_array_equal(by_function(x), expected(x))


def test_an_alias_of_an_integer(rng):
    source = SUMS.replace("int rows", "index rows")
    x = random(rng, 5, 3)
    kernel = sums(source=f"using index = unsigned;{source}")
    np.testing.assert_array_equal(kernel(x), expected(x))
    np.testing.assert_array_equal(kernel(x, 5), expected(x))


class Case(typing.NamedTuple):
    call: typing.Callable
    kind: type
    text: str


CALLS = {
    "a mismatch": Case(
        lambda: sums(shapes="rows cols -> rows")(np.ones(3, np.float32)),
        rc.ValidationError,
        "sums: operand 'x' has shape (3,) of rank 1, but shapes=\"rows cols -> rows\" "
        "needs (rows, cols) of rank 2.",
    ),
    "a list": Case(
        lambda: sums()([1.0]),
        rc.SignatureError,
        "sums: operand 'x' is a Python list; it needs an array. Pass jnp.asarray(...) "
        "with an explicit dtype.",
    ),
    "nothing": Case(
        lambda: sums()(),
        rc.SignatureError,
        "sums: expected 1 argument (x) or 2 arguments (x, rows), got 0.",
    ),
    "a division by zero": Case(
        lambda: sums(("float", "cols", "cols//(cols-3)"))(np.ones((2, 3), "f4")),
        rc.ValidationError,
        "sums: template: (cols//(cols-3)) divides by zero.",
    ),
    "another dtype": Case(
        lambda: sums()(np.ones((2, 3), np.int32)),
        rc.SignatureError,
        "sums: operand 'x' is int32, but parameter `const float* x` needs float32. "
        'Cast with x.astype("float32"), or reinterpret with .view.',
    ),
}


@pytest.mark.parametrize("case", CALLS.values(), ids=CALLS)
@pytest.mark.usefixtures("no_xla")
def test_a_call_that_is_refused(case):
    with pytest.raises(case.kind, match=f"^{re.escape(case.text)}$"):
        case.call()
