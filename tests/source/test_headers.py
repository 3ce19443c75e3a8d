"""Which headers of CUDA a text needs without saying so."""

from __future__ import annotations

import pytest

from jax_rawcuda._source.headers import auto_includes


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("__global__ void k(__half* x)", ("cuda_fp16.h",)),
        ("__global__ void k(const half* x)", ("cuda_fp16.h",)),
        ("half2 h;", ("cuda_fp16.h",)),
        ("out[i] = __half_as_ushort(__float2half(x[i]));", ("cuda_fp16.h",)),
        ("out[i] = __bfloat16_as_ushort(__float2bfloat16(x));", ("cuda_bf16.h",)),
        ("__nv_bfloat16* x", ("cuda_bf16.h",)),
        ("nv_bfloat162 x", ("cuda_bf16.h",)),
        ("__nv_fp8_e4m3* x", ("cuda_fp8.h",)),
        ("#include <cuda_fp16.h>\n__half* x", ()),
        ('#include "cuda_bf16.h"\n__nv_bfloat16 x; __half y', ("cuda_fp16.h",)),
        ("float half = 0.5f;", ()),
        ("#define half 0.5f\nfloat x = half;", ()),
        ("void f(float half) { g(half); }", ()),
        ("// __half\n/* half* */", ()),
        ("float* x", ()),
    ],
)
def test_auto_includes(source, names):
    assert auto_includes(source) == names


def test_template_arguments_bring_their_header():
    source = "template <class T> __global__ void k(T* x) {}"
    assert auto_includes(source, ("k<__half>",)) == ("cuda_fp16.h",)
    complex64 = ("k<cuda::std::complex<float>>",)
    assert auto_includes(source, complex64) == ("cuda/std/complex",)
    assert auto_includes("#include <cuda/std/complex>\n" + source, complex64) == ()
