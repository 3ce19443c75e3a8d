"""Arithmetic that states its rounding is never fused with what stands around it."""

from __future__ import annotations

import jax
import ml_dtypes
import numpy as np
import pytest

import jax_rawcuda as rc

SIZE = 4096
# C++ and NumPy alike; an fma in place of two operations would change the last bits.
EXPRESSIONS = [
    "mul(a, b) + c",
    "-mul(a, b) + c",
    "c - mul(-a, b)",
    "-(mul(a, b) + c)",
    "c + -mul(a, -b)",
    "choose(a > c, -mul(a, b), mul(b, c)) + c",
    "add(mul(a, b), c)",
    "-add(a * b, c)",
    "-add(-(a * b), c)",
    "sub(a * b, c)",
    "-sub(c, a * b)",
    "c - mul(sub(a * b, c), a)",
    "add(-mul(a, b), mul(b, c))",
    "-mul(a, k + -mul(b, k + c))",
    "-mul(a, k - -add(b * a, k + c))",
    "-add(k, k * -sub(a, k * -add(c, k)))",
]
TYPES = {
    "float": ("f", np.dtype(np.float32), ""),
    "double": ("d", np.dtype(np.float64), ""),
    "__half": ("h", np.dtype(np.float16), "#include <cuda_fp16.h>"),
    "__nv_bfloat16": ("h", np.dtype(ml_dtypes.bfloat16), "#include <cuda_bf16.h>"),
}


@pytest.mark.parametrize("type_", TYPES)
def test_each_operation_rounds(default_device, rng, x64, type_):
    letter, dtype, include = TYPES[type_]
    source = f"""{include}
#define add __{letter}add_rn
#define sub __{letter}sub_rn
#define mul __{letter}mul_rn
#define k (({type_})1.203125f)
#define choose(condition, x, y) (condition ? x : y)
""" + "".join(
        f"""
extern "C" __global__ void rounded_{n}(const {type_}* in, {type_}* out) {{
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  {type_} a = in[i], b = in[{SIZE} + i], c = in[{2 * SIZE} + i];
  out[i] = {text};
}}"""
        for n, text in enumerate(EXPRESSIONS)
    )
    module = rc.compile_nvrtc(source)
    launch = rc.LaunchConfig(grid=SIZE // 256, block=256)
    out = jax.ShapeDtypeStruct((SIZE,), dtype)
    kernels = [
        rc.kernel(module, f"rounded_{n}", out=out, launch=launch)
        for n in range(len(EXPRESSIONS))
    ]
    x = rng.standard_normal((3, SIZE)).astype(dtype)
    got = jax.jit(lambda x: [kernel(x) for kernel in kernels])(x)

    names = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
    a, b, c = x
    names |= {"choose": np.where, "a": a, "b": b, "c": c}
    names["k"] = dtype.type(1.203125)
    for text, row in zip(EXPRESSIONS, got, strict=True):
        want = eval(text, {}, names)  # the expressions above
        np.testing.assert_array_equal(row, want, err_msg=text)


@pytest.mark.parametrize("type_", TYPES)
def test_each_operation_rounds_in_a_loop(default_device, rng, x64, type_):
    # What goes around is used twice: in the sum, and after the loop.
    letter, dtype, include = TYPES[type_]
    source = f"""{include}
extern "C" __global__ void turns(const {type_}* in, {type_}* out, int n) {{
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  {type_} v = in[i];
  for (int k = 1; k <= n; k++)
    v = -__{letter}mul_rn(in[k * {SIZE} + i], ({type_})-1.203125f + v);
  out[i] = v;
}}"""
    launch = rc.LaunchConfig(grid=SIZE // 256, block=256)
    out = jax.ShapeDtypeStruct((SIZE,), dtype)
    x = rng.standard_normal((9, SIZE)).astype(dtype)
    got = rc.kernel(source, out=out, launch=launch)(x, n=8)
    want = x[0]
    for factor in x[1:]:
        want = -(factor * (dtype.type(-1.203125) + want))
    np.testing.assert_array_equal(got, want)
