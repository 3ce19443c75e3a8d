"""Reaction and diffusion: hundreds of launches in one op, two buffers in turn."""

import functools
import importlib.util
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import jax_rawcuda as rc

reaction = rc.compile_nvrtc(r"""
__global__ void step(const float* __restrict__ now,  // f32[2, h, w]: u, then v
                     float* __restrict__ next,       // f32[2, h, w]
                     int h, int w, float feed, float kill) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int i = y * w + x, area = h * w;
  int left = y * w + (x + w - 1) % w, right = y * w + (x + 1) % w;
  int above = (y + h - 1) % h * w + x, below = (y + 1) % h * w + x;
  float u = now[i], v = now[area + i];
  float spread_u = now[left] + now[right] + now[above] + now[below] - 4 * u;
  now += area;
  float spread_v = now[left] + now[right] + now[above] + now[below] - 4 * v;
  float eaten = u * v * v;
  next[i] = u + 0.16f * spread_u - eaten + feed * (1 - u);
  next[area + i] = v + 0.08f * spread_v + eaten - (feed + kill) * v;
}""").function("step")


@rc.op
def gray_scott(s: rc.Session, state, *, steps, feed=0.037, kill=0.06):
    """Advances f32[2, h, w] by a number of steps."""
    _, h, w = state.shape
    config = rc.LaunchConfig(grid=(-(-w // 32), -(-h // 8)), block=(32, 8))
    # The one that is not returned becomes a workspace.
    buffers = [s.alloc_output(state.shape, state.dtype) for _ in range(2)]
    for i in range(steps):
        s.launch(reaction, config, state, buffers[i % 2], h, w, feed, kill)
        state = buffers[i % 2]
    return state


def reference(_, state, feed=0.037, kill=0.06):
    """One step in jax.numpy."""
    u, v = state
    around = [jnp.roll(state, d, axis) for d in (1, -1) for axis in (1, 2)]
    spread_u, spread_v = sum(around) - 4 * state
    eaten = u * v * v
    u = u + 0.16 * spread_u - eaten + feed * (1 - u)
    return jnp.stack([u, v + 0.08 * spread_v + eaten - (feed + kill) * v])


if __name__ == "__main__":
    size = 128 if jax.default_backend() == "cpu" else 1024
    start = np.zeros((2, size, size), np.float32)
    start[0] = 1
    for y, x in np.random.default_rng(0).integers(0, size - 9, ((size // 32) ** 2, 2)):
        start[:, y : y + 9, x : x + 9] = [[[0.5]], [[0.25]]]

    advance = jax.jit(functools.partial(gray_scott, steps=300))
    state = advance(start)
    expected = jax.lax.fori_loop(0, 300, reference, jnp.asarray(start))
    np.testing.assert_allclose(state, expected, atol=1e-4)
    for _ in range(9):
        state = advance(state)
    v = np.asarray(state[1])
    print(f"after 3000 steps, v covers {(v > 0.1).mean():.0%} of {size} x {size} cells")
    if importlib.util.find_spec("PIL"):  # pip install '.[examples]'
        from PIL import Image

        path = Path(tempfile.gettempdir()) / "gray_scott.png"
        Image.fromarray((255 * v / v.max()).astype(np.uint8)).save(path)
        print("saved", path)
