"""One row per wrong call of a kernel, or wrong declaration: what it says.

Every row is raised by Python while recording; none reaches XLA.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc
from jax_rawcuda._session import binding as _binding

pytestmark = pytest.mark.usefixtures("no_xla")

X = np.arange(5, dtype=np.float32)
TRACED = jnp.float32(2)
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
        r"^saxpy: expected 3 arguments \(x, y, a\) or 4 arguments \(x, y, a, n\), "
        r"got 2\.$",
    ),
    "keyword": (
        (X, X, 2.0),
        {"b": 1},
        rc.SignatureError,
        "saxpy: 'b' is no parameter",
    ),
    "twice": (
        (X, X, 2.0),
        {"y": X},
        rc.SignatureError,
        r"^saxpy: float32\[5\] came to scalar 'a', which needs a number: positional "
        "arguments stand for the parameters that no keyword gives, and y came by "
        r"keyword\. Pass each once\.$",
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
        r"^saxpy: pointers without `const` \(out\) are results, .*; so float32\[5\] "
        "came to scalar 'a', which needs a number.",
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


@pytest.fixture
def no_driver(monkeypatch):
    """A machine without a GPU, where the driver is not asked instead."""
    monkeypatch.setattr(_binding, "has_device", lambda: False)


@pytest.mark.usefixtures("no_driver")
def test_block_larger_than_the_launch_bounds():
    source = SOURCE.replace("void saxpy", "void __launch_bounds__(128) saxpy")
    kernel = rc.kernel(source, shapes="n, n -> n", threads="n", block=256)
    text = r"saxpy: block=\(256, 1, 1\) has 256 threads; this kernel allows 128"
    with pytest.raises(rc.ValidationError, match=text):
        kernel(X, X, 2.0)


@pytest.mark.usefixtures("no_driver")
def test_more_shared_memory_than_there_is_with_the_static_part():
    kernel = rc.kernel(
        """__global__ void k(const float* x, float* out) {
          __shared__ float fixed[12000];
          extern __shared__ float row[];
          fixed[threadIdx.x] = row[threadIdx.x] = x[threadIdx.x];
          __syncthreads();
          out[threadIdx.x] = fixed[4 - threadIdx.x] + row[4 - threadIdx.x];
        }""",
        shapes="n -> n",
        threads="n",
        block=5,
        shared_mem_bytes=200_000,
    )
    with pytest.raises(
        rc.ValidationError,
        match=r"^k: shared_mem_bytes=200000 and 48000 static bytes of shared memory "
        r"per block; no device allows more than 232448\. Lower shared_mem_bytes\.$",
    ):
        kernel(X)


def test_a_kernel_without_results():
    kernel = rc.kernel(
        '__global__ void hello(const float* x) { printf("%g\\n", x[0]); }',
        out=(),
        launch=rc.LaunchConfig(1, 1),
    )
    text = (
        r"^hello: it has no results, so XLA would never run it\. Give the kernel out= "
        r"or in_out=, or return a result from the op\.$"
    )
    with pytest.raises(rc.ValidationError, match=text):
        kernel(X)


def test_an_op_without_results():
    @rc.op
    def forgets(s, x):
        s.copy_bytes(s.alloc_output(x.shape, x.dtype), x)

    with pytest.raises(rc.ValidationError, match=r"^forgets: it has no results, "):
        forgets(X)
