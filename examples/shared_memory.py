"""Dynamic shared memory and barriers: a sliding mean that reads each element once."""

import jax
import jax.numpy as jnp
import numpy as np

import jax_rawcuda as rc

BLOCK = 128
RADIUS = 16

sliding_mean = rc.kernel(
    r"""
extern "C" __global__ void sliding_mean(const float* __restrict__ x,  // f32[n]
                                        float* __restrict__ out,      // f32[n]
                                        int n, int radius) {
  extern __shared__ float tile[];  // f32[blockDim.x + 2 * radius]
  int first = blockIdx.x * blockDim.x - radius;
  for (int k = threadIdx.x; k < blockDim.x + 2 * radius; k += blockDim.x) {
    int i = min(max(first + k, 0), n - 1);  // the edges repeat
    tile[k] = x[i];
  }
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = 0; k <= 2 * radius; k++) sum += tile[threadIdx.x + k];
  out[i] = sum / (2 * radius + 1);
}""",
    shapes="n -> n",
    threads="n",
    block=BLOCK,
    shared_mem_bytes=4 * (BLOCK + 2 * RADIUS),
)

smooth = jax.jit(lambda x: sliding_mean(x, radius=RADIUS))

noise = np.random.default_rng(0).standard_normal(1000, np.float32)
signal = jnp.sin(jnp.linspace(0, 20, 1000)) + 0.3 * noise

window = np.ones(2 * RADIUS + 1) / (2 * RADIUS + 1)
expected = np.convolve(np.pad(np.asarray(signal), RADIUS, "edge"), window, "valid")
result = smooth(signal)
np.testing.assert_allclose(result, expected, atol=1e-5)
print("before", np.round(signal[:6], 2))
print("after ", np.round(result[:6], 2))
