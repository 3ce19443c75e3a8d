"""The emulator by itself: CUDA text to results in a process that has no JAX."""

from __future__ import annotations

from support.process import run_python

WITHOUT_JAX = """
    import sys

    class Refuse:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in ("jax", "jaxlib"):
                raise ImportError(f"{name} must not be needed")

    sys.meta_path.insert(0, Refuse())
    try:
        import jax
    except ImportError:
        pass
    else:
        raise AssertionError("jax was imported")
"""


def test_cuda_runs_without_jax():
    program = (
        WITHOUT_JAX
        + '''
    import numpy as np
    from jax_rawcuda import cpu
    from support.cpu_runner import launch

    SOURCE = """
    template <int N>
    __global__ void row_norms(const float* x, float scale, float* norms, int columns) {
      __shared__ float parts[N];
      const float* row = x + blockIdx.x * columns;
      float sum = 0;
      for (int i = threadIdx.x; i < columns; i += N) sum += row[i] * row[i];
      parts[threadIdx.x] = sum;
      for (int half = N / 2; half >= 32; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
      }
      __syncthreads();
      if (threadIdx.x >= 32) return;
      sum = parts[threadIdx.x];
      for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
      if (threadIdx.x == 0) norms[blockIdx.x] = scale * sqrtf(sum);
    }
    """
    compiled = cpu.compile_source(
        SOURCE, program_name="norms.cu", std=None, defines={}, include_dirs=(),
        headers={}, fast_math=False, name_expressions=("row_norms<128>",),
    )
    (name,) = compiled.lowered_names.values()
    kernel = cpu.load_kernel(compiled.ptx, name)

    random = np.random.default_rng(5)
    x = random.normal(size=(37, 1000)).astype(np.float32)
    norms = np.full(37, np.nan, np.float32)
    launch(kernel, x, np.float32(2.5), norms, np.int32(1000), grid=37, block=128)

    expected = 2.5 * np.linalg.norm(x.astype(np.float64), axis=1)
    np.testing.assert_allclose(norms, expected, rtol=1e-5)
    assert not {"jax", "jaxlib"} & set(sys.modules)
    print("ran")
    '''
    )
    assert run_python(program).stdout == "ran\n"


def test_printing_without_jax():
    program = (
        WITHOUT_JAX
        + r"""
    from support.cpu_runner import run, zeros
    run('(int* out) { printf("thread %d\\n", threadIdx.x); }', zeros(1), block=3)
    """
    )
    printed = run_python(program).stdout.splitlines()
    assert sorted(printed) == ["thread 0", "thread 1", "thread 2"]
