"""A source with every sort of kernel, and its module."""

from __future__ import annotations

import pytest

import jax_rawcuda as rc
from jax_rawcuda._base import cache as _cache
from jax_rawcuda._compile import nvrtc as _nvrtc
from jax_rawcuda._compile.target import Target

needs_nvrtc = pytest.mark.skipif(
    not _nvrtc.is_available(), reason="NVRTC is not installed"
)
GPU = Target("cuda", "sm_90")
PTX = Target("cuda", "compute_90")
CPU = Target("cpu")

SOURCE = r"""
#include <cstdint>
struct Params { char tag; double scale; int sizes[3]; };
enum Color { RED, BLUE };
enum class Byte : unsigned char { ZERO };

extern "C" __global__ void __launch_bounds__(256, 2) plain(
    const float* __restrict__ x, float* const y, float a, int n = 3) {
  if (n > 0) y[0] = a * x[0];
}

namespace ns {
namespace {
__global__ void hidden(float* x) { x[0] = 1; }
}
__global__ void params(Params p, const Params* q, Color c, Byte b, bool flag) {}
template <typename T, int N>
__global__ void scaled(const T* x, T* y, T a) { y[0] = x[N]; }
extern "C" __global__ void in_namespace(unsigned n) {}
}  // namespace ns

__global__ void kinds(
    float4* v, const void* raw, void* out, __half h, const __nv_bfloat16* b,
    long long big, size_t size, int64_t wide, float2 z, float (*rows)[4],
    volatile int* flags, double4_16a d) {}
static __global__ void internal(int* x) { x[0] = 2; }
__global__ void over(float* x) { x[0] = 3; }
__global__ void over(double* y) { y[0] = 4; }
template <typename T> struct Traits { using type = T; };
template <typename T>
__global__ void dependent(typename Traits<T>::type* x, const T y) { x[0] = y; }
#define KERNEL(name) extern "C" __global__ void name(const int* x, int* y)
KERNEL(from_macro) { y[0] = x[0]; }
"""


SIGNATURES = {
    "plain": "void plain(const float* x, float* y, float a, int n)",
    "ns::hidden": "void ns::hidden(float* x)",
    "ns::params": (
        "void ns::params(Params p, const Params* q, Color c, Byte b, bool flag)"
    ),
    "ns::scaled<float, 4>": (
        "void ns::scaled<float, 4>(const float* x, float* y, float a)"
    ),
    "ns::scaled<__half,1>": (
        "void ns::scaled<__half,1>(const __half* x, __half* y, __half a)"
    ),
    "ns::in_namespace": "void ns::in_namespace(unsigned int n)",
    "internal": "void internal(int* x)",
    "over(float*)": "void over(float* x)",
    "over(double*)": "void over(double* x)",
    "dependent<float>": "void dependent<float>(float* x, float y)",
    "from_macro": "void from_macro(const int* arg0, int* arg1)",
}


@pytest.fixture(scope="module")
def module_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_RAWCUDA_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def module(module_cache):
    return rc.compile_nvrtc(SOURCE)


def compiles():
    return _cache.cache_stats().compiles


@pytest.fixture
def no_nvrtc(monkeypatch):
    monkeypatch.setattr(_nvrtc, "_binding", lambda: None)
