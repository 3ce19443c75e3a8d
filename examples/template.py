"""One template, an instantiation per dtype and block size."""

import jax
import jax.numpy as jnp
import numpy as np

import jax_rawcuda as rc

# The call's arguments reach the `template` callable as abstract arrays, while tracing.
block_sum = rc.kernel(
    r"""
template <typename T, int kBlock>
__global__ void block_sum(const T* __restrict__ x,   // T[n]
                          T* __restrict__ partials,  // T[ceil(n / 256)]
                          int n) {
  __shared__ T scratch[kBlock];
  int i = blockIdx.x * kBlock + threadIdx.x;
  scratch[threadIdx.x] = i < n ? x[i] : T(0);
  __syncthreads();
#pragma unroll
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partials[blockIdx.x] = scratch[0];
}""",
    shapes="n -> (n + 255)//256",
    template=lambda x: (x.dtype, 256),
    threads="n",
    block=256,
)


@jax.jit
def total(x):
    """Sums x in rounds of 256."""
    while x.size > 1:
        x = block_sum(x)
    return x[0]


rng = np.random.default_rng(0)
for dtype in (jnp.int32, jnp.float32, jnp.float16):
    x = jnp.asarray(rng.integers(-3, 4, 100_000), dtype)
    expected = int(np.asarray(x).astype(np.int64).sum())
    result = total(x)
    assert int(result) == expected
    print(f"{result.dtype.name:>8}: {int(result)}, expected {expected}")
