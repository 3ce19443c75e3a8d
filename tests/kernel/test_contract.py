"""What `rc.kernel` takes in a declaration, and in the arguments of a call."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc

SOURCE = """
extern "C" __global__ void scale(const float* x,  // f32[n]
                                 float* out,      // f32[n]
                                 int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * x[i];
}"""
HIST = """
__global__ void hist(const int* x, int* counts, int n, int bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[x[i] % bins], 1);
}"""
IOTA = """
__global__ void iota(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = i;
}"""
TOTAL = """
__global__ void total(const int* x, int* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, x[i]);
}"""
X = np.random.default_rng(5).standard_normal(37).astype(np.float32)
INTS = np.random.default_rng(8).integers(0, 100, 37, np.int32)


def scale(**contract):
    return rc.kernel(SOURCE, **{"shapes": "n -> n", "threads": "n", **contract})


def hist(**contract):
    contract = contract or {"shapes": "n -> bins", "threads": "n"}
    return rc.kernel(HIST, fill=0, **contract)


def by_functions():
    return hist(
        out=lambda *args: jax.ShapeDtypeStruct((args[2],), jnp.int32),
        launch=lambda *args: rc.LaunchConfig.flat(args[1]),
    )


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


@pytest.mark.parametrize("threads", [np.int64(37), 37, "37", (np.int32(37), 1), ["n"]])
@pytest.mark.parametrize("shared", [np.int64(64), 64, "2*32"])
def test_what_counts_as_an_int(threads, shared):
    kernel = scale(threads=threads, shared_mem_bytes=shared)
    np.testing.assert_array_equal(kernel(X), 2 * X)


def test_a_dimension_that_no_operand_fixes():
    kernel = rc.kernel(IOTA, shapes=" -> n", threads="n")
    np.testing.assert_array_equal(kernel(70), np.arange(70, dtype=np.float32))


def test_what_messages_about_dimensions_advise_works():
    expected = np.bincount(INTS % 4, minlength=4)
    for counts in (
        hist()(INTS, bins=4),
        hist()(INTS, 37, 4),
        hist()(INTS, 37, bins=4),
        by_functions()(INTS, 37, 4),
        by_functions()(INTS, 37, bins=4),
        hist(shapes="n -> m", threads="n")(INTS, bins=4, m=4),
    ):
        np.testing.assert_array_equal(counts, expected)
    total = rc.kernel(TOTAL, shapes="n -> ()", threads="n", fill=0)
    assert total(INTS).shape == ()
    assert int(total(INTS)) == INTS.sum()
    one = rc.kernel(TOTAL, shapes="() -> ()", threads=1, fill=0)
    assert int(one(np.int32(3), n=1)) == 3
    float32 = jax.ShapeDtypeStruct((9,), jnp.float32)
    for kernel in (
        rc.kernel(IOTA, shapes="-> n", out=float32, threads="n"),
        rc.kernel(IOTA, out=float32, launch=lambda n: rc.LaunchConfig.flat(n)),
    ):
        np.testing.assert_array_equal(kernel(9), np.arange(9, dtype=np.float32))


def test_jit_narrows_before_anyone_can_check():
    kernel = rc.kernel(HIST, shapes="n -> bins", threads="n", fill=0)
    wide = INTS.astype(np.int64)
    with pytest.raises(rc.SignatureError, match="operand 'x' is int64, but parameter"):
        kernel(wide, bins=4)
    counts = jax.jit(lambda x: kernel(x, bins=4))(wide)
    np.testing.assert_array_equal(counts, np.bincount(INTS % 4, minlength=4))
