"""What cannot run on the CPU says so while tracing: instruction, line, advice."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from support.launching import launch

import jax_rawcuda as rc
from jax_rawcuda.cpu.frontend.cccl import cccl_include_dirs

TEXTURES = "textures and surfaces are not available on the CPU; read global memory"
TENSOR_CORE = "guard them with __CUDA_ARCH__ and give an mma.sync or scalar path"
CASES = {
    "texture": (
        "float r; asm volatile(\"tex.2d.v4.f32.f32 {%0, %0, %0, %0}, [%1, {%2, %2}];\""
        " : \"=f\"(r) : \"l\"(x), \"f\"(1.0f)); y[0] = r;",
        "tex.2d.v4.f32.f32", TEXTURES, "sm_90",
    ),
    "surface": (
        "asm volatile(\"sust.b.1d.b32.trap [%0, {%1}], {%1};\""
        " :: \"l\"(x), \"r\"(i));",
        "sust.b.1d.b32.trap", TEXTURES, "sm_90",
    ),
    "wgmma": (
        "asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");",
        "wgmma.fence.sync.aligned", TENSOR_CORE, "sm_90a",
    ),
    "tcgen05": (
        "asm volatile(\"tcgen05.wait::ld.sync.aligned;\" ::: \"memory\");",
        "tcgen05.wait::ld.sync.aligned", TENSOR_CORE, "sm_100a",
    ),
    "tensor map": (
        "asm volatile(\"cp.async.bulk.tensor.2d.shared::cluster.global"
        ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %2}], [%3];\""
        " :: \"r\"(0), \"l\"(x), \"r\"(i), \"r\"(8) : \"memory\");",
        "cp.async.bulk.tensor.2d", "copy with plain loads and stores", "sm_90",
    ),
    "sparse product": (
        "asm volatile(\"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col"
        ".f32.f16.f16.f32 {%0, %0, %0, %0}, {%1, %1}, {%1, %1}, {%0, %0, %0, %0}, "
        "%1, 0x0;\" : \"+f\"(y[i]) : \"r\"(i));",
        "mma.sp::ordered_metadata", "give an mma.sync shape with full fragments",
        "sm_90",
    ),
    "bulk reduction": (
        "asm volatile(\"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 "
        "[%0], [%1], 16;\" :: \"l\"(y), \"r\"(0) : \"memory\");",
        "cp.reduce.async.bulk", "use atom or red, element by element", "sm_90",
    ),
    "video": (
        "unsigned r; asm volatile(\"vadd4.u32.u32.u32 %0, %1, %1, %1;\""
        " : \"=r\"(r) : \"r\"(i)); y[0] = r;",
        "vadd4.u32.u32.u32", "use plain integer arithmetic", "sm_90",
    ),
    "multicast memory": (
        "float r; asm volatile(\"multimem.ld_reduce.global.add.f32 %0, [%1];\""
        " : \"=f\"(r) : \"l\"(x)); y[0] = r;",
        "multimem.ld_reduce", "multicast memory is not available", "sm_90",
    ),
}  # fmt: skip


def lower(source, arch="sm_90"):
    device = jax.devices("cpu")[0]
    x = np.ones(32, np.float32)
    options = rc.NvrtcOptions(arch=arch)
    return launch(device, source, "k", x, out=[(32, np.float32)], options=options)


def kernel(body, before=""):
    return (
        f"{before}\n"
        'extern "C" __global__ void k(const float* x, float* y) {\n'
        f"  int i = threadIdx.x;\n  y[i] = x[i];\n  {body}\n}}\n"
    )


@pytest.mark.parametrize("case", CASES)
def test_an_instruction_is_refused_with_advice(case):
    body, instruction, advice, arch = CASES[case]
    with pytest.raises(rc.UnsupportedError) as caught:
        lower(kernel(body), arch)
    text = str(caught.value)
    assert f"instruction `{instruction}" in text
    assert "k.cu:5" in text
    assert advice in text


HOST = "Hint: This is host code. Hand over the kernels and what they call"
MMA = "there is no wmma fragment of this shape and type on the CPU; use mma.sync"
# What stands before the kernel, and in it; words of the message.
TEXTS = {
    "texture object": (
        "", "y[i] = tex2D<float>(cudaTextureObject_t(), 0.5f, 0.5f);",
        ["instruction `tex.2d", "k.cu:5", TEXTURES],
    ),
    "surface object": (
        "", "surf2Dwrite(1.0f, cudaSurfaceObject_t(), 0, 0);",
        ["instruction `sust.b.2d", "k.cu:5", TEXTURES],
    ),
    "fragment of four bits": (
        "#include <mma.h>",
        "using namespace nvcuda::wmma; fragment<matrix_a, 8, 8, 32, "
        "experimental::precision::s4, row_major> f;",
        [MMA, "k.cu:5"],
    ),
    "fragment of bits": (
        "#include <mma.h>",
        "using namespace nvcuda::wmma; fragment<matrix_b, 8, 8, 128, "
        "experimental::precision::b1, col_major> f;",
        [MMA, "k.cu:5"],
    ),
    "child kernel": (
        "__global__ void child() {}", "if (i == 0) child<<<1, 1>>>();",
        ["kernel launch", "Hint: A kernel cannot start kernels here. Launch all of"],
    ),
    "host function": (
        "void f() { float* p; cudaMalloc(&p, 4); }", "",
        ["k.cu", "cudaMalloc", HOST, "JAX owns memory and streams"],
    ),
    "host header": (
        "#include <vector>", "",
        ["k.cu", "Hint: <vector> is a header of host code. Hand over the kernels"],
    ),
    "Thrust": (
        "#include <thrust/device_vector.h>", "",
        ["k.cu", "Hint: Thrust needs a host compiler. Use <cuda/std/complex>"],
    ),
    "all of CUB": (
        "#include <cub/cub.cuh>", "",
        ["k.cu", "Hint: The umbrella <cub/cub.cuh> holds host code. Include the spec"],
    ),
    "cuRAND": (
        "#include <curand_none.h>", "",
        ["k.cu", "Hint: Run: pip install nvidia-curand, and give the directory of"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("reader", ["nvrtc", "clang"])
@pytest.mark.parametrize("case", TEXTS)
def test_a_source_is_refused_with_advice(case, reader, request):
    before, body, words = TEXTS[case]
    if reader == "clang":
        request.getfixturevalue("no_nvrtc")
    if case in ("Thrust", "all of CUB") and not cccl_include_dirs():
        pytest.skip("needs the CCCL package")
    with pytest.raises((rc.UnsupportedError, rc.CompileError)) as caught:
        lower(kernel(body, before))
    for word in words:
        assert word in str(caught.value)


def test_barriers_in_functions_called_through_pointers():
    functions = """
    __device__ __noinline__ void once() { __syncthreads(); }
    __device__ __noinline__ void twice() { __syncthreads(); __syncthreads(); }
    __device__ void (*table[2])() = {once, twice};
    """.replace("\n", " ")
    with pytest.raises(rc.UnsupportedError) as caught:
        lower(kernel("table[blockIdx.x & 1]();", functions))
    assert str(caught.value) == (
        "function once() at k.cu:1 waits for other threads, so it cannot be called "
        "through a pointer on the CPU. Call it by its name."
    )


def test_barriers_in_recursive_functions():
    function = """
    __device__ __noinline__ int depth(int n) {
      if (n < 1) return 0;
      int left = depth(n - 1);
      __syncthreads();
      return left + depth(n - 2);
    }
    """.replace("\n", " ")
    with pytest.raises(rc.UnsupportedError, match=r"k\.cu:1: a recursive .* loop"):
        lower(kernel("y[i] = depth(blockDim.x);", function))
