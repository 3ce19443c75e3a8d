"""Directed rounding, subnormal numbers and what flushes them, against exact results."""

from __future__ import annotations

import numpy as np
import pytest
from support import exact as _exact
from support.launching import launch

import jax_rawcuda as rc

N = 500
MODES = {"rn": "rn", "rz": "rz", "rd": "rm", "ru": "rp"}  # in C, in the reference
ARITHMETIC = {
    "float": ("f32", {"add": "__fadd", "mul": "__fmul", "div": "__fdiv",
                      "sqrt": "__fsqrt", "fma": "__fmaf"}),
    "double": ("f64", {"add": "__dadd", "mul": "__dmul", "div": "__ddiv",
                       "sqrt": "__dsqrt", "fma": "__fma"}),
}  # fmt: skip
OPERANDS = {"add": "ab", "mul": "ab", "div": "ab", "sqrt": "a", "fma": "abc"}


def numbers(rng, form, count=N):
    """Bits of random numbers: of all sizes, near 1, subnormal, zeros, infinities."""
    words = rng.integers(0, 1 << form.width - 1, count, np.uint64)
    near = rng.integers(form.bias - 3, form.bias + 3, count).astype(np.uint64)
    fraction = words & np.uint64((1 << form.fraction) - 1)
    kinds = [words, near << np.uint64(form.fraction) | fraction, fraction]
    bits = np.choose(rng.integers(0, 3, count), kinds)
    bits[:2] = [0, form.infinity]
    bits |= rng.integers(0, 2, count, np.uint64) << np.uint64(form.width - 1)
    return bits.astype(f"u{form.width // 8}")


def elementwise(device, arrays, lines, result, **options):
    """Runs `lines` for each element; `a`, `b`, ... are the operands, `y` the result."""
    types = {np.float32: "float", np.float64: "double", np.int32: "int"}
    heads = [f"const {types[x.dtype.type]}* p{i}" for i, x in enumerate(arrays)]
    values = " ".join(f"auto {n} = p{i}[i];" for i, n in enumerate("abc"[: len(heads)]))
    body = "\n  ".join(f"y[{k} * n] = {line};" for k, line in enumerate(lines))
    source = f"""
extern "C" __global__ void k({", ".join(heads)}, {types[result]}* y, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  {values}
  y += i;
  {body}
}}"""
    return launch(
        device, source, "k", *arrays, N, out=[((len(lines), N), np.dtype(result))],
        grid=-(-N // 128), block=128, options=rc.NvrtcOptions(**options),
    )  # fmt: skip


def check_bits(got, want, form):
    """Equal bit for bit; any NaN is as good as another."""
    nan = np.array([w == _exact.NAN for w in want])
    bits = np.array([0 if w == _exact.NAN else w for w in want], got.dtype)
    np.testing.assert_array_equal(np.where(nan, 0, got), bits)
    assert ((got[nan] & form.sign - 1) > form.infinity).all()


@pytest.mark.parametrize("operation", OPERANDS)
@pytest.mark.parametrize("ctype", ARITHMETIC)
def test_arithmetic(device, rng, ctype, operation):
    kind, functions = ARITHMETIC[ctype]
    form, names = _exact.FORMATS[kind], OPERANDS[operation]
    dtype = np.dtype(kind.replace("f32", "f4").replace("f64", "f8"))
    bits = [numbers(rng, form) for _ in names]
    calls = [f"{functions[operation]}_{mode}({', '.join(names)})" for mode in MODES]
    got = elementwise(device, [b.view(dtype) for b in bits], calls, dtype.type)
    exact = getattr(_exact, operation)
    for row, mode in zip(got.view(bits[0].dtype), MODES.values(), strict=True):
        columns = zip(*(b.tolist() for b in bits), strict=True)
        check_bits(row, [exact(*values, form, mode) for values in columns], form)


def test_double_to_float(device, rng):
    wide, narrow = _exact.FORMATS["f64"], _exact.FORMATS["f32"]
    exponent = rng.integers(-160, 130, N)  # over both ends of float
    x = np.ldexp(rng.uniform(-2, 2, N), exponent)
    calls = [f"__double2float_{mode}(a)" for mode in MODES]
    got = elementwise(device, [x], calls, np.float32)
    for row, mode in zip(got.view(np.uint32), MODES.values(), strict=True):
        bits = x.view(np.uint64).tolist()
        check_bits(row, [_exact.convert(b, wide, narrow, mode) for b in bits], narrow)


def test_float_to_int_and_back(device, rng):
    x = np.concatenate(
        [rng.normal(0, 10, N - 8), [0.5, -1.5, 2.5, 1e10, -1e10, 0, 3, 4]]
    )
    x = x.astype(np.float32)
    calls = [f"__float2int_{mode}(a)" for mode in MODES]
    got = elementwise(device, [x], calls, np.int32)
    whole = [np.rint(x), np.trunc(x), np.floor(x), np.ceil(x)]
    for row, want in zip(got, whole, strict=True):
        limited = np.clip(want.astype(np.float64), -(2**31), 2**31 - 1)
        np.testing.assert_array_equal(row, limited)
    numbers = rng.integers(-(2**31), 2**31, N).astype(np.int32)
    calls = [f"__int2float_{mode}(a)" for mode in MODES]
    got = elementwise(device, [numbers], calls, np.float32).astype(np.float64)
    exact = numbers.astype(np.float64)
    step = np.abs(exact) * 2**-22
    nearest, cut, down, up = got
    np.testing.assert_array_equal(nearest, numbers.astype(np.float32))
    assert ((down <= exact) & (exact - down < step)).all()
    assert ((up >= exact) & (up - exact < step)).all()
    np.testing.assert_array_equal(cut, np.where(exact > 0, down, up))


def flushed(x):
    return np.where(np.abs(x) < np.finfo(x.dtype).tiny, np.copysign(0 * x, x), x)


SUMS = ["a + b", "a - b", "a * b"]


def sums(a, b):
    with np.errstate(all="ignore"):
        return np.stack([a + b, a - b, a * b])


def subnormals(rng, dtype):
    """Pairs of numbers whose sums and products are often subnormal."""
    tiny = np.finfo(dtype).tiny
    small = (rng.uniform(-4, 4, N) * float(tiny)).astype(dtype)
    other = np.where(rng.random(N) < 0.5, rng.permutation(small), rng.uniform(-1, 1, N))
    return small, other.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_subnormal_numbers_are_kept(device, rng, dtype):
    a, b = subnormals(rng, dtype)
    got, want = elementwise(device, [a, b], SUMS, dtype), sums(a, b)
    assert ((want != 0) & (np.abs(want) < np.finfo(dtype).tiny)).sum() > N // 5
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("flag", [{"fast_math": True}, {"extra": ("-ftz=true",)}])
def test_options_that_flush_floats(device, rng, flag):
    a, b = subnormals(rng, np.float32)
    got = elementwise(device, [a, b], SUMS, np.float32, **flag)
    want = flushed(sums(flushed(a), flushed(b)))
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
    wide, other = subnormals(rng, np.float64)  # which they leave alone
    got = elementwise(device, [wide, other], SUMS, np.float64, **flag)
    np.testing.assert_array_equal(got, sums(wide, other))


def test_instructions_that_flush(device, rng):
    a, b = subnormals(rng, np.float32)
    names = ["add.ftz", "sub.ftz", "mul.ftz", "add", "sub", "mul"]
    lines = [
        f'[=] {{ float r; asm("{name}.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));'
        " return r; }()"
        for name in names
    ]
    got = elementwise(device, [a, b], lines, np.float32)
    np.testing.assert_array_equal(got[:3], flushed(sums(flushed(a), flushed(b))))
    np.testing.assert_array_equal(got[3:], sums(a, b))
