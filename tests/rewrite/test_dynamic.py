"""Scalars that a rewritten kernel reads from memory: every type, batched or not."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.rewriting import Result, run

from jax_rawcuda._rewrite.adaptation import Adaptation

THREADS, COUNT = 32, 5
FRONT = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct Complex { double re, im; };
"""
# The C type of a scalar, the dtype of its bytes, and its members.
TYPES = {
    "signed char": ("int8", ""),
    "unsigned char": ("uint8", ""),
    "short": ("int16", ""),
    "unsigned short": ("uint16", ""),
    "int": ("int32", ""),
    "unsigned": ("uint32", ""),
    "long long": ("int64", ""),
    "unsigned long long": ("uint64", ""),
    "bool": ("bool", ""),
    "__half": ("float16", ""),
    "__nv_bfloat16": ("bfloat16", ""),
    "float": ("float32", ""),
    "double": ("float64", ""),
}
VECTORS = {
    "float2": ("float32", "xy"),
    "float3": ("float32", "xyz"),
    "float4": ("float32", "xyzw"),
    "uchar4": ("uint8", "xyzw"),
    "short2": ("int16", "xy"),
    "double2": ("float64", "xy"),
    "longlong2": ("int64", "xy"),
}


def kernel(index: int, c_type: str, members: list[str]) -> str:
    stored = "".join(
        f"out[{n * THREADS} + threadIdx.x] = (double)(float)({value}) + x[threadIdx.x];"
        for n, value in enumerate(members)
    )
    return (
        f'extern "C" __global__ void k{index}(const double* x, {c_type} a, '
        f"double* out) {{ {stored} }}\n"
    )


ALL_TYPES = TYPES | VECTORS
# One kernel per type, compiled at once.
SOURCE = FRONT + "".join(
    kernel(index, c_type, [f"a.{lane}" for lane in lanes] or ["a"])
    for index, (c_type, (_, lanes)) in enumerate(ALL_TYPES.items())
)


def scalars(rng, dtype: str, *shape: int) -> np.ndarray:
    """Random values that float32 holds exactly."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    low = 0 if dtype.startswith("uint") else -100
    values = rng.integers(low, 100, shape)
    return np.asarray(values).astype(getattr(ml_dtypes, dtype, dtype))


def check(device, rng, c_type, dtype, lanes, batched):
    """Compares with NumPy; `lanes` are the members, "" for a single number."""
    members = lanes or "a"
    x = rng.standard_normal(THREADS)
    a = scalars(rng, dtype, *([COUNT] if batched else []), len(members))
    indices = (1, 2) if batched else (2,)
    got = run(
        device,
        SOURCE,
        f"k{list(ALL_TYPES).index(c_type)}",
        Adaptation(1, indices, dynamic=(1,)),
        [
            x,
            a if lanes else a[..., 0].copy(),
            Result((len(members), THREADS), "float64"),
        ],
        sizes=(COUNT,),
    )
    want = a.astype(np.float64)[..., None] + x
    np.testing.assert_array_equal(got, np.broadcast_to(want, got.shape))


@pytest.mark.parametrize("batched", [False, True], ids=["shared", "batched"])
@pytest.mark.parametrize("c_type", TYPES)
def test_a_number(x64, device, rng, c_type, batched):
    check(device, rng, c_type, *TYPES[c_type], batched)


@pytest.mark.parametrize("c_type", VECTORS)
def test_a_vector(x64, device, rng, c_type):
    check(device, rng, c_type, *VECTORS[c_type], batched=True)


def test_a_complex_number(x64, device, rng):
    source = r"""
    #include <cuda/std/complex>
    using Number = cuda::std::complex<float>;
    extern "C" __global__ void k(const Number* x, Number a, Number* out) {
      out[threadIdx.x] = a * x[threadIdx.x];
    }"""
    x = (rng.standard_normal(32) + 1j * rng.standard_normal(32)).astype(np.complex64)
    a = np.array([1 + 2j, -0.5j, 3], np.complex64)
    adaptation = Adaptation(1, (1, 2), dynamic=(1,))
    result = Result((32,), "complex64")
    got = run(device, source, "k", adaptation, [x, a, result], sizes=(3,))
    np.testing.assert_allclose(got, a[:, None] * x, rtol=1e-6)


STRUCT = r"""
struct Inner { unsigned char flag; short shift; };
struct P { float a; double b; int c[5]; Inner inner; };
__device__ __noinline__ float pick(const P& p, int i) { return p.c[i % 5]; }
extern "C" __global__ void fixed(const float* x, P p, float* out) {
  int i = threadIdx.x;
  out[i] = p.a * x[i] + (float)p.b + p.c[1] + p.inner.flag * p.inner.shift;
}
extern "C" __global__ void indexed(const float* x, P p, float* out) {
  int i = threadIdx.x;
  float sum = p.a * x[i];
  for (int j = 0; j <= i; ++j) sum += p.c[(i + j) % 5];
  out[i] = sum;
}
extern "C" __global__ void passed(const float* x, const __grid_constant__ P p,
                                  float* out) {
  out[threadIdx.x] = p.a * x[threadIdx.x] + pick(p, threadIdx.x) + p.c[threadIdx.x % 5];
}
extern "C" __global__ void changed(const float* x, P p, float* out) {
  p.c[threadIdx.x % 5] += 100;
  out[threadIdx.x] = p.a * x[threadIdx.x] + p.c[1] + p.c[threadIdx.x % 3];
}"""
INNER = np.dtype([("flag", "u1"), ("shift", "i2")], align=True)
RECORD = np.dtype(
    [("a", "f4"), ("b", "f8"), ("c", "i4", 5), ("inner", INNER)], align=True
)


def struct_results(entry, p, x):
    i = np.arange(32)
    c = p["c"].astype(np.float32)
    if entry == "fixed":
        product = float(p["inner"]["flag"]) * float(p["inner"]["shift"])
        return p["a"] * x + p["b"] + c[1] + product
    if entry == "indexed":
        sums = [sum(c[(n + j) % 5] for j in range(n + 1)) for n in i]
        return p["a"] * x + np.array(sums)
    if entry == "passed":
        return p["a"] * x + 2 * c[i % 5]
    own = c + 100 * (i[:, None] % 5 == np.arange(5))
    return p["a"] * x + own[:, 1] + own[i, i % 3]


@pytest.mark.parametrize("entry", ["fixed", "indexed", "passed", "changed"])
@pytest.mark.parametrize("batched", [False, True], ids=["shared", "batched"])
def test_a_struct(device, rng, entry, batched):
    records = np.zeros(COUNT if batched else 1, RECORD)
    records["a"] = rng.integers(-9, 9, records.shape)
    records["b"] = rng.integers(-9, 9, records.shape)
    records["c"] = rng.integers(-99, 99, (*records.shape, 5))
    records["inner"]["flag"] = rng.integers(0, 200, records.shape)
    records["inner"]["shift"] = rng.integers(-99, 99, records.shape)
    x = rng.integers(-9, 9, 32).astype(np.float32)
    indices = (1, 2) if batched else (2,)
    data = np.frombuffer(records.tobytes(), np.uint8).reshape(len(records), -1)
    got = run(
        device,
        STRUCT,
        entry,
        Adaptation(1, indices, dynamic=(1,)),
        [x, data if batched else data[0].copy(), Result((32,))],
        sizes=(COUNT,),
    )
    for index, row in enumerate(got):
        record = records[index if batched else 0]
        np.testing.assert_array_equal(row, struct_results(entry, record, x))


def test_only_scalars_leave_the_grid_alone(device, rng):
    source = r"""extern "C" __global__ void k(float a, double b, float* out, int n) {
      int i = (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.x + threadIdx.x;
      if (i < n) out[i] = a * i + (float)b + gridDim.z;
    }"""
    adaptation = Adaptation(dynamic=(0, 1, 3), grid_z=3)
    a, b = np.float32(rng.integers(9)), rng.integers(9, size=())
    arguments = [np.asarray(a), b.astype(np.float32), Result((190,)), np.int32(190)]
    arguments[1] = np.frombuffer(np.float64(b).tobytes(), np.uint8)
    arguments[3] = np.asarray(arguments[3])
    assert adaptation.appended(0, (), {}) == ()
    got = run(device, source, "k", adaptation, arguments, sizes=(), grid=(1, 2))
    np.testing.assert_array_equal(got, a * np.arange(190, dtype=np.float32) + b + 3)
