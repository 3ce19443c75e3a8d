"""What a call of a kernel says when sizes, counts or 64-bit types do not fit."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc

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
DOUBLE = "__global__ void wide(const {}* x, double* y) {{ y[0] = 2 * x[0]; }}"
X = np.random.default_rng(8).integers(0, 100, 37, np.int32)


def hist(**contract):
    contract = contract or {"shapes": "n -> bins", "threads": "n"}
    return rc.kernel(HIST, fill=0, **contract)


def by_functions():
    return hist(
        out=lambda *args: jax.ShapeDtypeStruct((args[2],), jnp.int32),
        launch=lambda *args: rc.LaunchConfig.flat(args[1]),
    )


CALLS = {
    "a dimension of results only": (
        lambda: hist()(X),
        rc.ValidationError,
        "hist: no operand has dimension 'bins' of the results (known: n=37). Pass it "
        "by keyword, such as bins=16.",
    ),
    "the same, without a parameter of its name": (
        lambda: hist(shapes="n -> m", threads="n")(X, bins=4),
        rc.ValidationError,
        "hist: no operand has dimension 'm' of the results (known: n=37). Pass it by "
        "keyword, such as m=16.",
    ),
    "some dimensions by position": (
        lambda: hist()(X, 4),
        rc.SignatureError,
        "hist: expected 1 argument (x) or 3 arguments (x, n, bins), got 2. Pass all of "
        "n, bins by position, or some of them by keyword.",
    ),
    "nothing that names dimensions": (
        lambda: by_functions()(X, bins=4),
        rc.SignatureError,
        "hist: expected 2 arguments (x, n), got 1. n must be passed: only dimensions "
        "that shapes= names are filled in.",
    ),
    "a result without axes": (
        lambda: rc.kernel(TOTAL, shapes="n ->", threads="n")(X),
        rc.SignatureError,
        "total: 0 results declared; the kernel writes 1 (sum) that are not in in_out=. "
        "Pointers of in_out= are operands, and stand left of -> only. A result without "
        "axes is () in shapes=.",
    ),
    "an operand without axes": (
        lambda: rc.kernel(TOTAL, shapes="n -> ()", threads="n")(np.int32(3)),
        rc.ValidationError,
        "total: operand 'x' has shape () of rank 0, but shapes=\"n -> ()\" needs (n,) "
        "of rank 1. An operand without axes is () in shapes=.",
    ),
    "threads without shapes": (
        lambda: rc.kernel(IOTA, out=jax.ShapeDtypeStruct((4,), "f4"), threads="n"),
        rc.ValidationError,
        "iota: threads reads 'n', a dimension, which only shapes= can name. Say "
        'shapes="... -> n", with out= or without, or replace threads= by '
        "launch=lambda ...: rc.LaunchConfig.flat(n).",
    ),
    "too few": (
        lambda: hist()(),
        rc.SignatureError,
        "hist: expected 1 argument (x) or 3 arguments (x, n, bins), got 0.",
    ),
    "a 64-bit operand for another": (
        lambda: rc.kernel(DOUBLE.format("double"), shapes="n -> n", threads="n")(
            np.ones(3, np.float32)
        ),
        rc.SignatureError,
        "wide: operand 'x' is float32, but parameter `const double* x` needs float64. "
        'Set jax.config.update("jax_enable_x64", True) and cast with '
        'x.astype("float64").',
    ),
    "a 64-bit result": (
        lambda: rc.kernel(DOUBLE.format("int"), shapes="n -> n", threads="n")(X),
        rc.SignatureError,
        "wide: result 'y' is float64, but JAX's 64-bit types are off and would make it "
        'float32. Write that, or set jax.config.update("jax_enable_x64", True).',
    ),
}


@pytest.mark.parametrize(("call", "kind", "text"), CALLS.values(), ids=CALLS.keys())
@pytest.mark.usefixtures("no_xla")
def test_a_call_that_is_refused(call, kind, text):
    with pytest.raises(kind, match=f"^{re.escape(text)}$"):
        call()


def test_what_the_messages_advise_works():
    expected = np.bincount(X % 4, minlength=4)
    for counts in (
        hist()(X, bins=4),
        hist()(X, 37, 4),
        hist()(X, 37, bins=4),
        by_functions()(X, 37, 4),
        by_functions()(X, 37, bins=4),
        hist(shapes="n -> m", threads="n")(X, bins=4, m=4),
    ):
        np.testing.assert_array_equal(counts, expected)
    total = rc.kernel(TOTAL, shapes="n -> ()", threads="n", fill=0)
    assert total(X).shape == ()
    assert int(total(X)) == X.sum()
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
    wide = X.astype(np.int64)
    with pytest.raises(rc.SignatureError, match="operand 'x' is int64, but parameter"):
        kernel(wide, bins=4)
    counts = jax.jit(lambda x: kernel(x, bins=4))(wide)
    np.testing.assert_array_equal(counts, np.bincount(X % 4, minlength=4))


def test_a_compile_error_comes_without_the_way_through_the_cache():
    with pytest.raises(rc.CompileError, match='identifier "missing"') as error:
        rc.kernel("__global__ void k() { missing(); }", shapes="->", threads=1)
    files = [entry.path.name for entry in error.traceback]
    assert files[:2] == ["test_refused_calls.py", "kernel.py"]
    assert not {"cache.py", "program.py", "compilation.py", "frontends.py"} & {*files}
