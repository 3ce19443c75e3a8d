"""A CUDA kernel inside a jitted function: the same program on a GPU and on a CPU."""

import jax
import jax.numpy as jnp

import jax_rawcuda as rc

saxpy = rc.kernel(
    r"""
__global__ void saxpy(const float* x, const float* y, float a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}""",
    shapes="n, n -> n",
    threads="n",
    block=256,
)


@jax.jit
def step(x):
    """Mixes the kernel with jnp: XLA runs them on one stream."""
    return jnp.mean(saxpy(jnp.sin(x), jnp.cos(x), 2.0) ** 2)


x = jnp.linspace(0.0, 2.0 * jnp.pi, 1_000_001)
result, expected = step(x), jnp.mean((2.0 * jnp.sin(x) + jnp.cos(x)) ** 2)
assert jnp.allclose(result, expected, rtol=1e-4)
print(f"{result:.4f} on {result.device.device_kind}, expected {expected:.4f}")
