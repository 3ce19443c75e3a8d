"""A vendor library between two kernels: cuBLAS on XLA's stream, in one jitted program.

cuBLAS comes with `jax[cuda13]`, its binding with `pip install '.[examples]'`.
"""

import weakref

import jax
import numpy as np

import jax_rawcuda as rc

try:
    from nvmath.bindings import cublas
except ImportError:
    cublas = None

normalize = rc.kernel(
    r"""
__global__ void normalize(const float* x, float* out, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += x[row * cols + c] * x[row * cols + c];
  for (int c = 0; c < cols; ++c) out[row * cols + c] = x[row * cols + c] * rsqrtf(sum);
}""",
    shapes="rows cols -> rows cols",
    threads="rows",
    block=64,
)
gelu = rc.kernel(
    r"""
__global__ void gelu(const float* x, const float* bias, float* out, int n, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * cols) return;
  float v = x[i] + bias[i % cols];
  out[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
}""",
    shapes="n cols, cols -> n cols",
    threads="n*cols",
)


class Blas:
    """A cuBLAS handle on one stream, destroyed with the object."""

    def __init__(self, stream: int) -> None:
        self.handle = cublas.create()
        weakref.finalize(self, cublas.destroy, self.handle)
        cublas.set_stream(self.handle, stream)


@rc.live_op(out=lambda a, b: jax.ShapeDtypeStruct((a.shape[0], b.shape[1]), a.dtype))
def matmul(s: rc.LiveSession, a, b, out):
    """f32[m, k] times f32[k, n]; runs in Python each time the program does."""
    if s.platform == "cpu" or cublas is None:
        s.copy_bytes(out, s.upload(s.download_tensor(a) @ s.download_tensor(b)))
        return
    stream = s.stream().unsafe_raw_handle()
    blas = s.resource(("cublas", stream), lambda: Blas(stream))  # kept between calls
    (m, k), n = a.shape, b.shape[1]
    one, zero = (np.float32([value]).ctypes for value in (1, 0))
    keep = cublas.Operation.N
    # cuBLAS counts columns first: it computes out^T = b^T a^T.
    pa, pb, pc = (ref.unsafe_raw_ptr() for ref in (a, b, out))
    sizes = (keep, keep, n, m, k)
    cublas.sgemm(blas.handle, *sizes, one.data, pb, n, pa, k, zero.data, pc, n)


rng = np.random.default_rng(0)
x, w, bias = (rng.standard_normal(s, np.float32) for s in ((96, 64), (64, 80), 80))
layer = jax.jit(lambda x, w, bias: gelu(matmul(normalize(x), w), bias))
product = (x / np.linalg.norm(x, axis=1, keepdims=True)) @ w
expected = jax.nn.gelu(product + bias, approximate=False)
for _ in range(3):
    np.testing.assert_allclose(layer(x, w, bias), expected, rtol=1e-4, atol=1e-5)
if jax.default_backend() == "cpu":
    print("product by NumPy: no GPU here")
else:
    print("product by", "cuBLAS" if cublas else "NumPy: nvmath-python is missing")
