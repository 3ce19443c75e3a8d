"""A layer as one op: RMS norm, gated activation, and a residual added in place."""

import jax
import jax.numpy as jnp
import numpy as np

import jax_rawcuda as rc

module = rc.compile_nvrtc(r"""
template <typename T>  // one block of 256 threads per row
__global__ void rms_norm(const T* x, const T* w, T* out, int cols, float eps) {
  __shared__ float sums[256];
  int t = threadIdx.x;
  x += (size_t)blockIdx.x * cols;
  out += (size_t)blockIdx.x * cols;
  sums[t] = 0.0f;
  for (int c = t; c < cols; c += 256) sums[t] += float(x[c]) * float(x[c]);
  __syncthreads();
  for (int half = 128; half > 0; half /= 2, __syncthreads()) {
    if (t < half) sums[t] += sums[t + half];
  }
  float scale = rsqrtf(sums[0] / cols + eps);
  for (int c = t; c < cols; c += 256) out[c] = T(float(x[c]) * scale * float(w[c]));
}

template <typename T>  // in place: h = silu(gate h) (up h)
__global__ void gated(T* h, const T* gate, const T* up, int count, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float value = h[i], a = value * float(gate[i % cols]);
  h[i] = T(a / (1.0f + expf(-a)) * value * float(up[i % cols]));
}

template <typename T>
__global__ void add(T* x, const T* h, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] = T(float(x[i]) + float(h[i]));
}
""")
C_TYPES = {"float32": "float", "bfloat16": "__nv_bfloat16"}


@rc.op
def layer(s: rc.Session, x, norm, gate, up, *, eps=1e-6):
    """Adds the gated, normalised rows of `x` to `x` itself."""
    rows, cols = x.shape
    names = (f"{k}<{C_TYPES[x.dtype.name]}>" for k in ("rms_norm", "gated", "add"))
    rms_norm, gated, add = map(module.function, names)
    h = s.alloc_bytes(x.nbytes)  # part of XLA's own memory plan
    x = s.tensor_mut(x)  # with a donated operand: no copy
    flat = rc.LaunchConfig.flat(x.size, 256)
    s.launch(rms_norm, rc.LaunchConfig(grid=rows, block=256), x, norm, h, cols, eps)
    s.launch(gated, flat, h, gate, up, x.size, cols)
    s.launch(add, flat, x, h, x.size)
    return x


def reference(x, norm, gate, up, eps=1e-6):
    """The same layer in jax.numpy, in f32 until its end."""
    wide = x.astype(jnp.float32)
    h = wide * jax.lax.rsqrt((wide**2).mean(-1, keepdims=True) + eps) * norm
    return (wide + jax.nn.silu(gate * h) * up * h).astype(x.dtype)


def network(one_layer, x, weights):
    """Layer after layer: a scan over their stacked weights."""
    return jax.lax.scan(lambda x, w: (one_layer(x, *w), None), x, weights)[0]


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    run = jax.jit(network, static_argnums=0)
    for dtype, tolerance in (("float32", 1e-6), ("bfloat16", 1e-2)):
        x = jnp.asarray(rng.normal(size=(64, 1000)), dtype)
        weights = [jnp.asarray(rng.normal(size=(6, 1000)) / 2, dtype) for _ in range(3)]
        result, expected = (np.float32(run(f, x, weights)) for f in (layer, reference))
        error = np.linalg.norm(result - expected) / np.linalg.norm(expected)
        assert error < tolerance
        print(f"fused layers in {dtype}: relative error {error:.1e}")
