"""Spellings that public CUDA code uses, each a kind that once failed on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from support.launching import launch

import jax_rawcuda as rc
from jax_rawcuda._compile.compilation import compile_program
from jax_rawcuda._compile.compiler import CLANG
from jax_rawcuda._compile.program import Program


def run(device, source, name, x):
    """Calls a kernel `x -> float32` of `source` with a thread for each element."""
    out = [(x.shape, "f4")]
    return launch(device, source, name, x, out=out, grid=x.size // 64, block=64)


@pytest.fixture
def x():
    return np.random.default_rng(8).standard_normal(192).astype(np.float32)


def test_a_tile_whose_parent_is_not_named(device, x):
    source = r"""
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    __device__ float sum(cg::thread_block_tile<16> tile, float v) {
      for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_xor(v, d);
      return v;
    }
    __global__ void sums(const float* x, float* out) {
      cg::thread_block block = cg::this_thread_block();
      cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
      cg::thread_block_tile<4> quad = cg::tiled_partition<4>(tile);
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      out[i] = sum(tile, x[i]) + quad.thread_rank();
    }
    """
    want = np.repeat(x.reshape(-1, 16).sum(1), 16) + np.arange(x.size) % 4
    np.testing.assert_allclose(
        run(device, source, "sums", x), want, rtol=1e-5, atol=1e-5
    )


def test_scales_of_microscaling_blocks(device):
    source = r"""
    #include <cuda_fp8.h>
    __global__ void scales(const unsigned char* x, float* out) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      const __nv_bfloat16 e = __nv_cvt_e8m0_to_bf16raw(x[i]);
      __nv_fp8_e8m0 own;
      own.__x = x[i];
      out[i] = (float)e == (float)own || x[i] == 255 ? (float)own : -1.f;
    }
    """
    codes = np.random.default_rng(7).permutation(256).astype(np.uint8)
    want = np.where(codes == 255, np.nan, np.ldexp(1.0, codes.astype(int) - 127))
    np.testing.assert_array_equal(
        run(device, source, "scales", codes), want.astype(np.float32)
    )


def test_what_the_language_needs_of_std_comes_without_an_include(device, x):
    source = r"""
    template <class F>
    __device__ float apply(F&& f, float v) { return std::forward<F>(f)(std::move(v)); }
    __global__ void fold(const float* x, float* out) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      float sum = 0;
      for (float w : {0.5f, 0.25f}) sum += apply([=](float v) { return w * v; }, x[i]);
      std::initializer_list<int> three = {1, 2, 3};
      out[i] = sum + three.size();
    }
    """
    np.testing.assert_allclose(run(device, source, "fold", x), 0.75 * x + 3, rtol=1e-6)


def test_clang_gives_the_advice_that_nvrtc_gives():
    text = "__global__ void k(float* x) { *x = INFINITY; }"
    program = Program("k.cu", text, rc.NvrtcOptions())
    with pytest.raises(rc.CompileError, match=r"\nHint: Add #include <cmath>; the"):
        compile_program(program, CLANG)
