"""Two kernels and a workspace in one op: the session records, XLA's stream replays."""

import jax
import jax.numpy as jnp
import numpy as np

import jax_rawcuda as rc

module = rc.compile_nvrtc(r"""
// One block of 256 threads per row.
extern "C" __global__ void row_scale(const float* __restrict__ x,  // f32[rows, cols]
                                     float* __restrict__ scale,    // f32[rows]
                                     int cols, float eps) {
  __shared__ float scratch[256];
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256) {
    float value = x[(size_t)blockIdx.x * cols + c];
    sum += value * value;
  }
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) scale[blockIdx.x] = rsqrtf(scratch[0] / cols + eps);
}

extern "C" __global__ void apply(const float* __restrict__ x,       // f32[rows, cols]
                                 const float* __restrict__ weight,  // f32[cols]
                                 const float* __restrict__ scale,   // f32[rows]
                                 float* __restrict__ out,           // f32[rows, cols]
                                 int count, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = x[i] * scale[i / cols] * weight[i % cols];
}
""")


@rc.op
def rms_norm(s: rc.Session, x, weight, *, eps=1e-6):
    """Normalises each row to unit root mean square, then weights the columns."""
    rows, cols = x.shape
    scale = s.alloc_bytes(4 * rows)
    out = s.alloc_output(x.shape, x.dtype)
    per_row = rc.LaunchConfig(grid=rows, block=256)
    s.launch(module.function("row_scale"), per_row, x, scale, cols, eps)
    flat = rc.LaunchConfig.flat(x.size, 256)
    s.launch(module.function("apply"), flat, x, weight, scale, out, x.size, cols)
    return out


rng = np.random.default_rng(0)
x = rng.standard_normal((64, 1000), np.float32)
weight = rng.standard_normal(1000, np.float32)
expected = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * weight

result = jax.jit(rms_norm)(x, weight)
np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
print("rms_norm agrees:", result.shape, result.dtype)

batched = jax.jit(jax.vmap(rms_norm, (0, None)))(jnp.stack([x, 2 * x, -x]), weight)
np.testing.assert_allclose(batched[2], -expected, rtol=1e-4, atol=1e-5)
print("and under vmap:", batched.shape)
