"""Memory as kernels use it and C++ does not: read as another type, or at its end."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import jax_rawcuda as rc

N = 64
READS = {
    "floats as int": (
        "float",
        "out = *(int*)&l[t & 15];",
        "f4",
        lambda b, t: b[t & 15],
    ),
    "through a pointer": (
        "float",
        "const int* p = (const int*)l; out = p[t & 15];",
        "f4",
        lambda b, t: b[t & 15],
    ),
    "ints as float": (
        "int",
        "out = __float_as_int(((float*)l)[t & 15]);",
        "i4",
        lambda b, t: b[t & 15],
    ),
    "ints as long long": (
        "alignas(8) int",
        "out = (int)(*(long long*)&l[t & 14] >> 32);",
        "i4",
        lambda b, t: b[(t & 14) + 1],
    ),
    "floats as uint4": (
        "alignas(16) float",
        "out = (int)(*(uint4*)&l[t & 12]).z;",
        "f4",
        lambda b, t: b[(t & 12) + 2],
    ),
    "doubles as int2": (
        "double",
        "out = ((int2*)l)[t & 15].y;",
        "f8",
        lambda b, t: b[2 * (t & 15) + 1],
    ),
    "ints as short": (
        "int",
        "out = ((short*)l)[t & 31];",
        "i4",
        lambda b, t: b.view("i2")[t & 31],
    ),
}


@pytest.mark.parametrize("space", ["local", "shared"])
@pytest.mark.parametrize("name", READS)
def test_memory_read_as_another_type(default_device, rng, name, space):
    declared, read, dtype, reference = READS[name]
    qualifier = "__shared__ " if space == "shared" else ""
    source = f"""
extern "C" __global__ void punned(const int* x, int* y) {{
  {qualifier}{declared} l[16];
  int t = threadIdx.x, out;
  for (int i = 0; i < 16; i++) l[i] = x[i];
  {"__syncthreads();" if space == "shared" else ""}
  {read}
  y[t] = out;
}}"""
    x = rng.integers(-1000000, 1000000, 16).astype(np.int32)
    kernel = rc.kernel(
        source,
        out=jax.ShapeDtypeStruct((N,), np.int32),
        launch=rc.LaunchConfig(grid=1, block=N),
    )
    bits = x.astype(dtype).view(np.int32)
    want = [reference(bits, t) for t in range(N)]
    np.testing.assert_array_equal(kernel(x), want)


def test_more_memory_than_the_heap_has(default_device):
    source = """
extern "C" __global__ void full(const int* x, int* y) {
  y[threadIdx.x] = malloc((size_t)1 << (40 + x[threadIdx.x])) == nullptr;
}"""
    x = np.arange(4, dtype=np.int32)
    kernel = rc.kernel(source, shapes="n -> n", launch=rc.LaunchConfig(1, 4))
    np.testing.assert_array_equal(kernel(x), np.ones(4))
