"""Kernels whose declaration or call is refused, while tracing: what is said."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from support.refusals import Row, table

import jax_rawcuda as rc
from jax_rawcuda import SignatureError, ValidationError
from jax_rawcuda._session import binding as _binding

SAXPY = """
__global__ void saxpy(const float* x, const float* y, float a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}"""
TWICE = """
__global__ void twice(const float* x, float* out, int n) {
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
COPY = """
__global__ void copy(const float2* a, const float2* b, float2* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = make_float2(a[i].x + b[i].x, a[i].y + b[i].y);
}"""
SHARED = """
__global__ void k(const float* x, float* out) {
  __shared__ float fixed[12000];
  extern __shared__ float row[];
  fixed[threadIdx.x] = row[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = fixed[4 - threadIdx.x] + row[4 - threadIdx.x];
}"""
DOUBLE = "__global__ void wide(const {}* x, double* y) {{ y[0] = 2 * x[0]; }}"
TYPED = "template <class T> __global__ void k(const T* x, T* out) {}"
X = np.random.default_rng(5).standard_normal(37).astype(np.float32)
FIVE = np.arange(5, dtype=np.float32)
INTS = np.random.default_rng(8).integers(0, 100, 37, np.int32)
CONFIG = rc.LaunchConfig(1, 64)


def saxpy(*arguments, source=SAXPY, block=256, **keywords):
    kernel = rc.kernel(source, shapes="n, n -> n", threads="n", block=block)
    return kernel(*arguments, **keywords)


def twice(**contract):
    return rc.kernel(TWICE, **{"shapes": "n -> n", "threads": "n", **contract})


def hist(**contract):
    contract = contract or {"shapes": "n -> bins", "threads": "n"}
    return rc.kernel(HIST, fill=0, **contract)


def by_functions():
    return hist(
        out=lambda *args: jax.ShapeDtypeStruct((args[2],), jnp.int32),
        launch=lambda *args: rc.LaunchConfig.flat(args[1]),
    )


def by_value(**functions):
    """A call with an array for the scalar, of a kernel that functions decide on."""
    usual = {"shapes": "n, n -> n", "threads": "n"}
    if "launch" in functions:
        del usual["threads"]
    rc.kernel(SAXPY, **usual, **functions)(X, X, jnp.float32(2))


def typed(template):
    return rc.kernel(TYPED, shapes="n -> n", threads="n", template=template)


def exported():
    (size,) = export.symbolic_shape("b")
    spec = jax.ShapeDtypeStruct((size,), jnp.float32)
    export.export(jax.jit(lambda x: twice()(x)))(spec)


@pytest.fixture(autouse=True)
def refused_before_anything_runs(no_xla, monkeypatch):
    # A machine without a GPU, where the driver is not asked instead.
    monkeypatch.setattr(_binding, "has_device", lambda: False)


DECLARATIONS = [
    Row(
        "neither threads nor launch",
        lambda: rc.kernel(SAXPY, shapes="n -> n"),
        ValidationError,
        "saxpy: give either threads= (elements, divided by block=) or launch= (a "
        "LaunchConfig, or a callable that returns one).",
    ),
    Row(
        "neither shapes nor out",
        lambda: rc.kernel(SAXPY, threads=4),
        ValidationError,
        'saxpy: the results need shapes="... -> ..." or out=.',
    ),
    Row(
        "no shapes",
        lambda: rc.kernel(SAXPY, shapes="n -> n+", threads="n"),
        ValidationError,
        "saxpy: shapes needs a dimension (a name, an integer or a parenthesis) at "
        "column 8, found the end.\n  n -> n+\n         ^",
    ),
    Row(
        "a product without a star",
        lambda: twice(shapes="n -> 2n"),
        ValidationError,
        "twice: shapes needs '*' or a space between a number and a name at column "
        "7, found 'n'.\n  n -> 2n\n        ^",
    ),
    Row(
        "threads without shapes",
        lambda: rc.kernel(IOTA, out=jax.ShapeDtypeStruct((4,), "f4"), threads="n"),
        ValidationError,
        "iota: threads reads 'n', a dimension, which only shapes= can name. Say "
        'shapes="... -> n", with out= or without, or replace threads= by '
        "launch=lambda ...: rc.LaunchConfig.flat(n).",
    ),
    Row(
        "half a thread",
        lambda: twice(threads=5.5),
        ValidationError,
        "twice: threads has 5.5; it needs ints that are not negative, or text over "
        "dimensions.",
    ),
    Row(
        "negative threads",
        lambda: twice(threads=-3),
        ValidationError,
        "twice: threads has -3; it needs ints that are not negative, or text over "
        "dimensions.",
    ),
    Row(
        "threads of a strange dimension",
        lambda: twice(threads="m"),
        ValidationError,
        "twice: threads reads 'm', which shapes=\"n -> n\" does not name. Name it "
        "there, or compute it in launch=.",
    ),
    Row(
        "threads of no axes",
        lambda: twice(threads=()),
        ValidationError,
        "twice: threads has 0 axes; it needs one to three.",
    ),
    Row(
        "threads of four axes",
        lambda: twice(threads="4 4 4 4"),
        ValidationError,
        "twice: threads has 4 axes; it needs one to three.",
    ),
    Row(
        "threads of four dimensions",
        lambda: twice(threads="n m k j"),
        ValidationError,
        "twice: threads has 4 axes; it needs one to three.",
    ),
    Row(
        "threads by a function",
        lambda: twice(threads=len),
        ValidationError,
        "twice: threads has a function; it needs ints, or text over dimensions. Use "
        "launch=, a function that returns a LaunchConfig, instead of threads= and "
        "block=.",
    ),
    Row(
        "threads by a function on one axis",
        lambda: twice(threads=(4, len)),
        ValidationError,
        "twice: threads has a function; it needs ints, or text over dimensions. Use "
        "launch=, a function that returns a LaunchConfig, instead of threads= and "
        "block=.",
    ),
    Row(
        "block by a function",
        lambda: twice(block=len),
        ValidationError,
        "twice: block has a function; it needs ints. Use launch=, a function that "
        "returns a LaunchConfig, instead of threads= and block=.",
    ),
    Row(
        "block by a function on one axis",
        lambda: twice(block=(4, len)),
        ValidationError,
        "twice: block has a function; it needs ints. Use launch=, a function that "
        "returns a LaunchConfig, instead of threads= and block=.",
    ),
    Row(
        "shared memory of a strange dimension",
        lambda: twice(shared_mem_bytes="4*m"),
        ValidationError,
        "twice: shared_mem_bytes reads 'm', which shapes=\"n -> n\" does not name. "
        "Name it there, or compute it in launch=.",
    ),
    Row(
        "shared memory in floats",
        lambda: twice(shared_mem_bytes=64.0),
        ValidationError,
        "twice: shared_mem_bytes has 64.0; it needs ints that are not negative, or "
        "text over dimensions.",
    ),
    Row(
        "shared memory of None",
        lambda: twice(shared_mem_bytes=None),
        ValidationError,
        "twice: shared_mem_bytes has None; it needs ints that are not negative, or "
        "text over dimensions.",
    ),
    Row(
        "shared memory of no axes",
        lambda: twice(shared_mem_bytes="()"),
        ValidationError,
        "twice: shared_mem_bytes has 0 axes; it needs one to three.",
    ),
    Row(
        "shared memory in two texts",
        lambda: twice(shared_mem_bytes="4*n 8"),
        ValidationError,
        "twice: shared_mem_bytes='4*n 8'; it needs one number.",
    ),
    Row(
        "shared memory in two numbers",
        lambda: twice(shared_mem_bytes=(4, 8)),
        ValidationError,
        "twice: shared_mem_bytes=(4, 8); it needs one number.",
    ),
    Row(
        "in_out of None",
        lambda: twice(in_out=None),
        ValidationError,
        "twice: in_out=None; it needs a parameter's name, or several.",
    ),
    Row(
        "in_out of a number",
        lambda: twice(in_out=5),
        ValidationError,
        "twice: in_out=5; it needs a parameter's name, or several.",
    ),
    Row(
        "block beside launch",
        lambda: twice(threads=None, launch=CONFIG, block=64),
        ValidationError,
        "twice: block= and shared_mem_bytes= go with threads=. With launch= they "
        "stand in the LaunchConfig.",
    ),
    Row(
        "shared memory beside launch",
        lambda: twice(threads=None, launch=CONFIG, shared_mem_bytes=64),
        ValidationError,
        "twice: block= and shared_mem_bytes= go with threads=. With launch= they "
        "stand in the LaunchConfig.",
    ),
    Row(
        "a name that is a number",
        lambda: rc.kernel(TWICE, 3, shapes="n -> n", threads="n"),
        ValidationError,
        "kernel: name=3; it needs the kernel's name, as text.",
    ),
    Row(
        "a name that is bytes",
        lambda: rc.kernel(TWICE, b"scale", shapes="n -> n", threads="n"),
        ValidationError,
        "kernel: name=b'scale'; it needs the kernel's name, as text.",
    ),
]


@table(DECLARATIONS)
def test_a_declaration_is_refused(row):
    row.check()


MISFITS = [
    Row(
        "in_out of a constant",
        lambda: twice(in_out="x")(X),
        SignatureError,
        "twice: in_out names 'x', which is no pointer that the kernel may write. "
        "Choose from: out.",
    ),
    Row(
        "another dtype of a result",
        lambda: twice(out=jax.ShapeDtypeStruct((37,), np.int32))(X),
        SignatureError,
        "twice: out makes result 'out' int32, but parameter `float* out` needs "
        "float32. Declare it so.",
    ),
    Row(
        "out of a text",
        lambda: twice(out="float32")(X),
        ValidationError,
        "twice: out gives 'float32' for result 'out'; it needs a shape and a dtype, "
        "as jax.ShapeDtypeStruct has.",
    ),
    Row(
        "launch that gives a number",
        lambda: twice(threads=None, launch=lambda *_: 3)(X),
        ValidationError,
        "twice: launch returned 3; it must return a LaunchConfig.",
    ),
    Row(
        "shapes of two operands",
        lambda: twice(shapes="n, n -> n")(X),
        SignatureError,
        'twice: shapes="n, n -> n" describes 2 operands; the kernel has 1 (x).',
    ),
    Row(
        "shapes of no operand",
        lambda: twice(shapes="-> n")(X),
        SignatureError,
        'twice: shapes="-> n" describes 0 operands; the kernel has 1 (x).',
    ),
    Row(
        "shapes of two results",
        lambda: twice(shapes="n -> n, n")(X),
        SignatureError,
        "twice: 2 results declared; the kernel writes 1 (out) that are not in "
        "in_out=. Pointers of in_out= are operands, and stand left of -> only.",
    ),
    Row(
        "a huge result",
        lambda: twice(shapes="n -> 9223372036854775808")(X),
        ValidationError,
        "twice: 9223372036854775808 is 9223372036854775808; the largest extent is "
        "9223372036854775807.",
    ),
    Row(
        "a result that overflows",
        lambda: twice(shapes="n -> n*9223372036854775807")(X),
        ValidationError,
        "twice: (n*9223372036854775807) is 341264765363626704859; the largest "
        "extent is 9223372036854775807.",
    ),
    Row(
        "a void result",
        lambda: rc.kernel(
            'extern "C" __global__ void k(void* out) {}', shapes=" -> 3", threads=3
        )(),
        SignatureError,
        "k: result 'out' is `void*`, which has no array dtype. Declare the results "
        "with out=.",
    ),
    Row(
        "operands of one type that are read differently",
        lambda: rc.kernel(COPY, shapes="n, m -> n", threads="n")(
            np.ones(4, np.complex64), np.ones(8, np.float32)
        ),
        SignatureError,
        "copy: result 'out' is `float2*`, and operands of that type are complex64 "
        "and float32. Declare the results with out=.",
    ),
    Row(
        "a result without axes",
        lambda: rc.kernel(TOTAL, shapes="n ->", threads="n")(INTS),
        SignatureError,
        "total: 0 results declared; the kernel writes 1 (sum) that are not in "
        "in_out=. Pointers of in_out= are operands, and stand left of -> only. A "
        "result without axes is () in shapes=.",
    ),
    Row(
        "an operand without axes",
        lambda: rc.kernel(TOTAL, shapes="n -> ()", threads="n")(np.int32(3)),
        ValidationError,
        "total: operand 'x' has shape () of rank 0, but shapes=\"n -> ()\" needs "
        "(n,) of rank 1. An operand without axes is () in shapes=.",
    ),
    Row(
        "no results",
        lambda: rc.kernel(
            '__global__ void hello(const float* x) { printf("%g\\n", x[0]); }',
            out=(),
            launch=rc.LaunchConfig(1, 1),
        )(X),
        ValidationError,
        "hello: it has no results, so XLA would never run it. Give the kernel out= "
        "or in_out=, return a result from the op, or say has_side_effect=True.",
    ),
    Row(
        "a block of 2048 threads",
        lambda: saxpy(FIVE, FIVE, 2.0, block=2048),
        ValidationError,
        "saxpy: block=(2048, 1, 1) has 2048 threads; the limit is 1024 threads per "
        "block.",
    ),
    Row(
        "a block larger than the launch bounds",
        lambda: saxpy(
            FIVE,
            FIVE,
            2.0,
            source=SAXPY.replace("void saxpy", "void __launch_bounds__(128) saxpy"),
        ),
        ValidationError,
        "saxpy: block=(256, 1, 1) has 256 threads; this kernel allows 128, by its "
        "__launch_bounds__ or its registers. Use a smaller block.",
    ),
    Row(
        "shared memory beside a static part",
        lambda: rc.kernel(
            SHARED, shapes="n -> n", threads="n", block=5, shared_mem_bytes=200_000
        )(FIVE),
        ValidationError,
        "k: shared_mem_bytes=200000 and 48000 static bytes of shared memory per "
        "block; no device allows more than 232448. Lower shared_mem_bytes.",
    ),
    Row(
        "template of a number",
        lambda: typed(3.5)(X),
        ValidationError,
        "k: template gives 3.5; it needs dtypes, ints, bools or C++ text, one or "
        "several.",
    ),
    Row(
        "template of None",
        lambda: typed(lambda _: None)(X),
        ValidationError,
        "k: template gives None; it needs dtypes, ints, bools or C++ text, one or "
        "several.",
    ),
    Row(
        "a template argument of a float",
        lambda: typed([3.0])(X),
        ValidationError,
        "k: template argument 3.0 has no C++ spelling. Give it as text.",
    ),
    Row(
        "a template argument of None",
        lambda: typed([None])(X),
        ValidationError,
        "k: template argument None has no C++ spelling. Give it as text.",
    ),
    Row(
        "a template argument of a class",
        lambda: typed([str])(X),
        ValidationError,
        "k: template argument <class 'str'> has no C++ spelling. Give it as text.",
    ),
    Row(
        "a template argument of a date",
        lambda: typed([np.dtype("datetime64[s]")])(X),
        ValidationError,
        "k: template argument dtype('<M8[s]') has no C++ spelling. Give it as text.",
    ),
]


@table(MISFITS)
def test_a_declaration_that_does_not_fit_the_kernel(row):
    row.check()


CALLS = [
    Row(
        "two arguments of three",
        lambda: saxpy(FIVE, FIVE),
        SignatureError,
        "saxpy: expected 3 arguments (x, y, a) or 4 arguments (x, y, a, n), got 2.",
    ),
    Row(
        "no arguments",
        lambda: hist()(),
        SignatureError,
        "hist: expected 1 argument (x) or 3 arguments (x, n, bins), got 0.",
    ),
    Row(
        "some dimensions by position",
        lambda: hist()(INTS, 4),
        SignatureError,
        "hist: expected 1 argument (x) or 3 arguments (x, n, bins), got 2. Pass all "
        "of n, bins by position, or some of them by keyword.",
    ),
    Row(
        "a strange keyword",
        lambda: saxpy(FIVE, FIVE, 2.0, b=1),
        SignatureError,
        "saxpy: 'b' is no parameter. Choose from: x, y, a, n.",
    ),
    Row(
        "an operand twice",
        lambda: saxpy(FIVE, FIVE, 2.0, y=FIVE),
        SignatureError,
        "saxpy: float32[5] came to scalar 'a', which needs a number: positional "
        "arguments stand for the parameters that no keyword gives, and y came by "
        "keyword. Pass each once.",
    ),
    Row(
        "a short operand",
        lambda: saxpy(FIVE, FIVE[1:], 2.0),
        ValidationError,
        "saxpy: operand 'y' has shape (4,), but shapes=\"n, n -> n\" needs (n,): "
        "axis n is 4, required 5 (n=5 from operand 'x').",
    ),
    Row(
        "an operand of two axes",
        lambda: saxpy(FIVE, FIVE[None], 2.0),
        ValidationError,
        "saxpy: operand 'y' has shape (1, 5) of rank 2, but shapes=\"n, n -> n\" "
        "needs (n,) of rank 1.",
    ),
    Row(
        "a float64 operand",
        lambda: saxpy(FIVE.astype(np.float64), FIVE, 2.0),
        SignatureError,
        "saxpy: operand 'x' is float64, but parameter `const float* x` needs "
        'float32. Cast with x.astype("float32").',
    ),
    Row(
        "a list",
        lambda: saxpy([1.0] * 5, FIVE, 2.0),
        SignatureError,
        "saxpy: operand 'x' is a Python list; it needs an array. Pass "
        "jnp.asarray(...) with an explicit dtype.",
    ),
    Row(
        "a number for a pointer",
        lambda: saxpy(2.0, FIVE, FIVE),
        SignatureError,
        "saxpy: operand 'x' is a Python float; it needs an array. Pass "
        "jnp.asarray(...) with an explicit dtype.",
    ),
    Row(
        "an array for a number",
        lambda: saxpy(FIVE, FIVE, FIVE),
        SignatureError,
        "saxpy: pointers without `const` (out) are results, allocated for you and "
        "not passed; so float32[5] came to scalar 'a', which needs a number. Write "
        "`const` at a pointer that you pass, or name it in in_out=.",
    ),
    Row(
        "a traced number of another dtype",
        lambda: jax.jit(saxpy)(FIVE, FIVE, np.int32(2)),
        SignatureError,
        "saxpy: scalar 'a' is int32[], but parameter `float a` needs float32[]. Cast "
        'with a.astype("float32").',
    ),
    Row(
        "a masked array",
        lambda: twice()(np.ma.masked_array(X, X > 0)),
        SignatureError,
        "twice: operand 'x' is a masked array; fill it first: it needs an array. "
        "Pass jnp.asarray(...) with an explicit dtype.",
    ),
    Row(
        "a symbolic shape",
        exported,
        SignatureError,
        "twice: operand 'x' has the symbolic shape (b,), but launches are recorded "
        "with static shapes. Export with numbers.",
    ),
    Row(
        "a dimension of results only",
        lambda: hist()(INTS),
        ValidationError,
        "hist: no operand has dimension 'bins' of the results (known: n=37). Pass "
        "it by keyword, such as bins=16.",
    ),
    Row(
        "the same without a parameter of its name",
        lambda: hist(shapes="n -> m", threads="n")(INTS, bins=4),
        ValidationError,
        "hist: no operand has dimension 'm' of the results (known: n=37). Pass it "
        "by keyword, such as m=16.",
    ),
    Row(
        "nothing that names dimensions",
        lambda: by_functions()(INTS, bins=4),
        SignatureError,
        "hist: expected 2 arguments (x, n), got 1. n must be passed: only "
        "dimensions that shapes= names are filled in.",
    ),
    Row(
        "a 64-bit operand for another",
        lambda: rc.kernel(DOUBLE.format("double"), shapes="n -> n", threads="n")(
            np.ones(3, np.float32)
        ),
        SignatureError,
        "wide: operand 'x' is float32, but parameter `const double* x` needs "
        'float64. Set jax.config.update("jax_enable_x64", True) and cast with '
        'x.astype("float64").',
    ),
    Row(
        "a 64-bit result",
        lambda: rc.kernel(DOUBLE.format("int"), shapes="n -> n", threads="n")(INTS),
        SignatureError,
        "wide: result 'y' is float64, but JAX's 64-bit types are off and would make "
        'it float32. Write that, or set jax.config.update("jax_enable_x64", True).',
    ),
    Row(
        "a traced dimension",
        lambda: jax.jit(lambda x, n: twice()(x, n))(X, 37),
        SignatureError,
        "twice: scalar 'n' is traced, but it is a dimension of the shapes. Leave it "
        'out where operands give it, or pass a Python int (static_argnames="n" in '
        "jax.jit).",
    ),
    Row(
        "a dimension in an array",
        lambda: twice()(X, jnp.int32(37)),
        SignatureError,
        "twice: scalar 'n' is an array (int32[]), but it is a dimension of the shapes. "
        "Leave it out where operands give it, or pass a Python int "
        '(static_argnames="n" in jax.jit).',
    ),
    *(
        Row(
            f"the value of an array, in {where}",
            lambda where=where, use=use: by_value(**{where: use}),
            SignatureError,
            "saxpy: argument 'a' is an array (float32[]), which has no value while the "
            "call is recorded. Pass a Python number (static_argnames in jax.jit).",
        )
        for where, use in {
            "launch": lambda *args: rc.LaunchConfig(int(args[2])),
            "out": lambda *args: [args[0]] * (args[2] > 1),
            "shared_mem_bytes": lambda *args: 4 * args[2],
        }.items()
    ),
    Row(
        "the value of an array, in template",
        lambda: typed(lambda _x, a: (int(a),))(X, jnp.int32(3)),
        SignatureError,
        "k: argument 1 is an array (int32[]), which has no value while the call is "
        "recorded. Pass a Python number (static_argnames in jax.jit).",
    ),
    Row(
        "a dimension that is too small",
        lambda: jax.jit(lambda x: twice()(x, 4))(X),
        ValidationError,
        "twice: scalar 'n' is 4, but the operands make n=37 (shapes=\"n -> n\"). "
        "Leave it out, or slice the operands.",
    ),
    Row(
        "a dimension that is too large",
        lambda: jax.jit(lambda x: twice()(x, rc.KernelArg.i32(38)))(X),
        ValidationError,
        "twice: scalar 'n' is 38, but the operands make n=37 (shapes=\"n -> n\"). "
        "Leave it out, or slice the operands.",
    ),
    Row(
        "a negative dimension",
        lambda: jax.jit(lambda x: twice()(x, -1))(X),
        ValidationError,
        "twice: scalar 'n' is -1, but the operands make n=37 (shapes=\"n -> n\"). "
        "Leave it out, or slice the operands.",
    ),
    Row(
        "half a dimension",
        lambda: twice()(X, 37.5),
        ValidationError,
        "twice: scalar 'n'=37.5 is not an integer, but the parameter is `int`. "
        "Convert it with int().",
    ),
    Row(
        "a dimension that is a text",
        lambda: twice()(X, "37"),
        SignatureError,
        "twice: scalar 'n' is a str; it needs a number.",
    ),
    Row(
        "a dimension that is None",
        lambda: twice()(X, None),
        SignatureError,
        "twice: scalar 'n' is a NoneType; it needs a number.",
    ),
    Row(
        "a dimension that is a list",
        lambda: twice()(X, [37]),
        SignatureError,
        "twice: scalar 'n' is a list; it needs a number.",
    ),
]


@table(CALLS)
def test_a_call_is_refused(row):
    row.check()


def with_function(what, function):
    """Calls a kernel, with an array and a number, that has a function for `what`."""
    if what == "template":
        kernel = rc.kernel(
            "template <class T> __global__ void twice(const T* x, T* out, float a) {}",
            shapes="n -> n",
            threads="n",
            template=function,
        )
    else:
        source = TWICE.replace("int n", "float a, int n")
        contract = {"launch" if what == "launch" else "threads": CONFIG.grid}
        kernel = rc.kernel(source, **{"shapes": "n -> n", **contract, what: function})
    return kernel(X, 2.0)


def live(out):
    def body(s, x, out):
        pass

    return rc.live_op(body, name="f", out=out)(X)


def one(x):
    return x


def three(x, a, b):
    return x, a, b


FUNCTIONS = [
    *(
        Row(
            f"{what}, {function.__name__}",
            lambda what=what, function=function: with_function(what, function),
            SignatureError,
            f"twice: {what}= takes {taken}, but it is called with the arguments of the "
            f"call, ({given}). Let it take these.",
        )
        for what, given in {
            "out": "x, a",
            "launch": "x, a",
            "shared_mem_bytes": "x, a",
            "template": "float32[37], a Python float",
        }.items()
        for function, taken in {one: "(x)", three: "(x, a, b)"}.items()
    ),
    Row(
        "out of a live op",
        lambda: live(lambda: X),
        SignatureError,
        "f: out= takes (), but it is called with the arguments of the call, (x). Let "
        "it take these.",
    ),
]


@table(FUNCTIONS)
def test_a_function_that_takes_other_arguments(row):
    row.check()


@pytest.mark.parametrize("what", ["out", "launch", "shared_mem_bytes", "template"])
def test_an_error_in_a_function_of_the_users_is_theirs_with_a_note(what):
    def broken(*_):
        raise TypeError("broken")

    with pytest.raises(TypeError, match=r"^broken\n") as error:
        with_function(what, broken)
    (note,) = error.value.__notes__
    shown = "[ShapeDtypeStruct(shape=(37,), dtype=float32), 2.0]"
    assert note == f"twice: in {what}=, called with {shown}."


def test_a_compile_error_comes_without_the_way_through_the_cache():
    with pytest.raises(rc.CompileError, match='identifier "missing"') as error:
        rc.kernel("__global__ void k() { missing(); }", shapes="->", threads=1)
    files = [entry.path.name for entry in error.traceback]
    files = [name for name in files if name != "traceback_util.py"]  # JAX's
    assert files[:2] == ["test_refused.py", "kernel.py"]
    assert not {"cache.py", "program.py", "compilation.py", "frontends.py"} & {*files}
