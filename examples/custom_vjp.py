"""A forward and a backward kernel joined by jax.custom_vjp, trained inside jit."""

import jax
import jax.numpy as jnp
import numpy as np

import jax_rawcuda as rc

SOURCE = r"""
// silu(x) = x * sigmoid(x)
extern "C" __global__ void silu_forward(const float* __restrict__ x,  // f32[n]
                                        float* __restrict__ out,      // f32[n]
                                        int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] / (1.0f + expf(-x[i]));
}

extern "C" __global__ void silu_backward(const float* __restrict__ x,   // f32[n]
                                         const float* __restrict__ ct,  // f32[n]
                                         float* __restrict__ grad,      // f32[n]
                                         int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float gate = 1.0f / (1.0f + expf(-x[i]));
  grad[i] = ct[i] * gate * (1.0f + x[i] * (1.0f - gate));
}"""

forward = rc.kernel(SOURCE, "silu_forward", shapes="n -> n", threads="n", block=128)
backward = rc.kernel(
    SOURCE, "silu_backward", shapes="n, n -> n", threads="n", block=128
)

silu = jax.custom_vjp(forward)
silu.defvjp(lambda x: (forward(x), x), lambda x, ct: (backward(x, ct),))

rng = np.random.default_rng(0)
x = jnp.asarray(rng.standard_normal((512, 16)), jnp.float32)
target = jnp.sin(x @ jnp.arange(16.0) / 4)


def loss(weights):
    """Fits a one-layer network to a sine."""
    hidden = jax.vmap(silu)(x @ weights["in"])
    return jnp.mean((hidden @ weights["out"] - target) ** 2)


@jax.jit
def train(weights):
    """Takes a hundred steps of gradient descent."""

    def step(weights, _):
        value, grads = jax.value_and_grad(loss)(weights)
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, grads), value

    return jax.lax.scan(step, weights, length=100)


exact = jax.grad(lambda x: jnp.sum(jax.nn.silu(x)))(x[0])
np.testing.assert_allclose(jax.grad(lambda x: silu(x).sum())(x[0]), exact, atol=1e-5)

weights = {
    "in": jnp.asarray(rng.standard_normal((16, 32)) / 4, jnp.float32),
    "out": jnp.asarray(rng.standard_normal(32) / 6, jnp.float32),
}
weights, losses = train(weights)
print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} after {losses.size} steps")
assert losses[-1] < 0.8 * losses[0]
