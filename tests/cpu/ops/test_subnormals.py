"""Subnormal numbers on the CPU: kept, except where the code says to flush them."""

from __future__ import annotations

import jax
import ml_dtypes
import numpy as np
import pytest
from support import exact as _exact

import jax_rawcuda as rc

# C type -> its format and NumPy's type.
TYPES = {
    "float": ("f32", np.float32),
    "double": ("f64", np.float64),
    "__half": ("f16", np.float16),
    "__nv_bfloat16": ("bf16", ml_dtypes.bfloat16),
}
COUNT = 1000
HEADER = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"


def bits_type(ctype):
    return np.dtype(f"u{np.dtype(TYPES[ctype][1]).itemsize}")


def numbers(ctype, seed, exponents=(0, 1, 2)):
    """Random numbers with small exponents, and some near 1 to bring them together."""
    form = _exact.FORMATS[TYPES[ctype][0]]
    rng = np.random.default_rng(seed)
    exponent = rng.choice(exponents, COUNT)
    near_one = rng.integers(form.bias - 4, form.bias + 4, COUNT)
    exponent = np.where(rng.random(COUNT) < 0.4, near_one, exponent)
    fraction = rng.integers(1, 1 << form.fraction, COUNT, np.uint64)
    sign = rng.integers(0, 2, COUNT, np.uint64)
    bits = sign << np.uint64(form.width - 1)
    bits |= exponent.astype(np.uint64) << np.uint64(form.fraction)
    return (bits | fraction).astype(bits_type(ctype)).view(TYPES[ctype][1])


def plain(array):
    """The same memory in a type that JAX carries as it is."""
    return array.view(np.uint32 if array.itemsize > 2 else np.uint16)


def kernel(source, ctype, result=None, **options):
    """`source` computes `r` from `x`, `y` and `z` of a C type, elementwise.

    All arrays are words, since XLA's own threads flush subnormal numbers.
    """
    result = result or ctype
    words = bits_type(result).itemsize * COUNT
    unit = 4 if bits_type(result).itemsize > 2 else 2
    out = jax.ShapeDtypeStruct((words // unit,), f"u{unit}")
    return rc.kernel(
        f"""{HEADER}
        extern "C" __global__ void k(const void* a, const void* b, const void* c,
                                     void* out, int n) {{
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i >= n) return;
          {ctype} x = ((const {ctype}*)a)[i], y = ((const {ctype}*)b)[i];
          {ctype} z = ((const {ctype}*)c)[i];
          {result} r;
          {source}
          (({result}*)out)[i] = r;
        }}""",
        "k",
        out=out,
        threads=COUNT,
        block=128,
        options=rc.NvrtcOptions(**options),
    )


def eager(function):
    return function


def jitted(function):
    return jax.jit(function)


def mapped(function):
    def call(*arrays):
        pairs = [np.stack([array, array]) for array in arrays]
        results = np.asarray(jax.jit(jax.vmap(function))(*pairs))
        np.testing.assert_array_equal(results[0], results[1])
        return results[0]

    return call


def run(function, how, result, *arrays):
    got = np.asarray(how(lambda *a: function(*a, COUNT))(*map(plain, arrays)))
    return got.view(TYPES[result][1])


BINARY = {
    "r = x + y;": np.add,
    "r = x * y;": np.multiply,
    "r = x / y;": np.divide,
}
WAYS = [eager, jitted, mapped]


def assert_same(got, want):
    assert got.dtype == want.dtype
    bits = np.dtype(f"u{want.itemsize}")
    number = ~np.isnan(want.astype(np.float64))
    np.testing.assert_array_equal(got.view(bits)[number], want.view(bits)[number])
    assert np.isnan(got.astype(np.float64)[~number]).all()


def flushed(values):
    tiny = np.abs(values) < ml_dtypes.finfo(values.dtype).tiny
    return np.where(tiny, np.copysign(values.dtype.type(0), values), values)


def smaller(a, b):
    """As on the device, where -0 is below +0."""
    return np.where((a < b) | ((a == b) & np.signbit(a)), a, b)


def any_subnormal(values):
    tiny = ml_dtypes.finfo(values.dtype).tiny
    return ((values != 0) & (np.abs(values) < tiny)).sum() > COUNT // 20


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("source", BINARY)
@pytest.mark.parametrize("ctype", TYPES)
def test_arithmetic(ctype, source, how):
    a, b = numbers(ctype, 1), numbers(ctype, 2)
    with np.errstate(all="ignore"):
        want = BINARY[source](a, b)
    assert any_subnormal(want)
    assert_same(run(kernel(source, ctype), how, ctype, a, b, a), want)


@pytest.mark.parametrize(
    ("ctype", "source"),
    [
        ("float", "r = fmaf(x, y, z);"),
        ("double", "r = fma(x, y, z);"),
        ("__half", "r = __hfma(x, y, z);"),
        ("__nv_bfloat16", "r = __hfma(x, y, z);"),
    ],
)
def test_fused_multiply_add(ctype, source):
    a, b, c = (numbers(ctype, seed) for seed in (3, 4, 5))
    name, dtype = TYPES[ctype]
    form, bits = _exact.FORMATS[name], bits_type(ctype)
    columns = zip(*(x.view(bits).tolist() for x in (a, b, c)), strict=True)
    exact = np.array([_exact.fma(*row, form) for row in columns], bits).view(dtype)
    assert any_subnormal(exact)
    assert_same(run(kernel(source, ctype), jitted, ctype, a, b, c), exact)


@pytest.mark.parametrize(
    ("ctype", "root", "least", "most"),
    [
        ("float", "sqrtf", "fminf", "fmaxf"),
        ("double", "sqrt", "fmin", "fmax"),
        ("__half", "hsqrt", "__hmin", "__hmax"),
        ("__nv_bfloat16", "hsqrt", "__hmin", "__hmax"),
    ],
)
def test_roots_and_extremes(ctype, root, least, most):
    a, b = np.abs(numbers(ctype, 6, (0,))), numbers(ctype, 7, (0,))
    for name, want in [
        (f"{root}(x)", np.sqrt(a)),
        (f"{least}(x, y)", np.fmin(a, b)),
        (f"{most}(x, y)", np.fmax(a, b)),
    ]:
        got = run(kernel(f"r = {name};", ctype), jitted, ctype, a, b, a)
        assert_same(got, want)


@pytest.mark.parametrize("wide", ["double", "float"])
@pytest.mark.parametrize("narrow", ["float", "__half", "__nv_bfloat16"])
def test_conversions(wide, narrow):
    if (wide, narrow) == ("double", "__nv_bfloat16"):
        wide = "float"  # that conversion goes through float
    small, large = TYPES[narrow][1], TYPES[wide][1]
    values = numbers(narrow, 8, (0,))
    got = run(kernel("r = x;", narrow, wide), jitted, wide, values, values, values)
    assert_same(got, values.astype(large))
    between = (values.astype(np.float64) * (1 + 2.0**-9)).astype(large)
    got = run(kernel("r = x;", wide, narrow), jitted, narrow, between, between, between)
    assert_same(got, between.astype(small))


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("source", [*BINARY, "r = fminf(x, y);"])
def test_fast_math_flushes_f32(source, how):
    a, b = numbers("float", 10), numbers("float", 11)
    with np.errstate(all="ignore"):
        operation = {**BINARY, "r = fminf(x, y);": smaller}[source]
        want = flushed(operation(flushed(a), flushed(b)))
    got = run(kernel(source, "float", fast_math=True), how, "float", a, b, a)
    assert_same(got, want)


def test_fast_math_keeps_other_types():
    for ctype in ("double", "__half", "__nv_bfloat16"):
        a, b = numbers(ctype, 12), numbers(ctype, 13)
        with np.errstate(all="ignore"):
            want = a * b
        function = kernel("r = x * y;", ctype, fast_math=True)
        assert_same(run(function, jitted, ctype, a, b, a), want)


FTZ = {
    "add.ftz.f32 %r, %a, %b;": lambda a, b: a + b,
    "add.f32 %r, %a, %b;": lambda a, b: a + b,
    "mul.rn.ftz.f32 %r, %a, %b;": lambda a, b: a * b,
    "div.rn.ftz.f32 %r, %a, %b;": lambda a, b: a / b,
    "min.ftz.f32 %r, %a, %b;": smaller,
    "neg.ftz.f32 %r, %a;": lambda a, _: -a,
    "abs.f32 %r, %a;": lambda a, _: np.abs(a),
    "sqrt.rn.ftz.f32 %r, %a;": lambda a, _: np.sqrt(a),
}


@pytest.mark.parametrize("instruction", FTZ)
def test_each_instruction_flushes_for_itself(instruction):
    module = rc.load_ptx(
        f""".version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pr) {{
  .reg .f32 %a, %b, %r;  .reg .b32 %t;  .reg .b64 %i, %x;
  mov.u32 %t, %tid.x;
  mul.wide.u32 %i, %t, 4;
  ld.param.u64 %x, [pa];  add.s64 %x, %x, %i;  ld.global.f32 %a, [%x];
  ld.param.u64 %x, [pb];  add.s64 %x, %x, %i;  ld.global.f32 %b, [%x];
  {instruction}
  ld.param.u64 %x, [pr];  add.s64 %x, %x, %i;  st.global.f32 [%x], %r;
  ret;
}}""",
        signature="k(const float*, const float*, float*)",
    )
    function = rc.kernel(
        module.function("k"),
        out=jax.ShapeDtypeStruct((COUNT,), np.float32),
        launch=rc.LaunchConfig(grid=1, block=COUNT),
    )
    a, b = numbers("float", 14), numbers("float", 15)
    keep = flushed if "ftz" in instruction else np.asarray
    with np.errstate(all="ignore"):
        want = keep(FTZ[instruction](keep(a), keep(b)))
    assert_same(np.asarray(jax.jit(function)(a, b)), want)
