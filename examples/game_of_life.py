"""Conway's Game of Life: fifty generations in one jitted loop, printed as text."""

import jax
import jax.numpy as jnp
import numpy as np

import jax_rawcuda as rc

generation = rc.kernel(
    r"""
extern "C" __global__ void generation(
    const unsigned char* __restrict__ cells,  // u8[h, w], 0 or 1; the edges wrap
    unsigned char* __restrict__ out,          // u8[h, w]
    int h, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int neighbours = 0;
  for (int dy = -1; dy <= 1; dy++) {
    for (int dx = -1; dx <= 1; dx++) {
      if (dx == 0 && dy == 0) continue;
      neighbours += cells[(y + dy + h) % h * w + (x + dx + w) % w];
    }
  }
  out[y * w + x] = neighbours == 3 || (neighbours == 2 && cells[y * w + x]);
}""",
    shapes="h w -> h w",
    threads=("w", "h"),
    block=(32, 8),
)

GOSPER_GUN = """
........................O...........
......................O.O...........
............OO......OO............OO
...........O...O....OO............OO
OO........O.....O...OO..............
OO........O...O.OO....O.O...........
..........O.....O.......O...........
...........O...O....................
............OO......................
"""


@jax.jit
def evolve(cells):
    """Advances by fifty generations."""
    return jax.lax.fori_loop(0, 50, lambda _, c: generation(c), cells)


rows = [[c == "O" for c in line] for line in GOSPER_GUN.split()]
cells = np.zeros((24, 48), np.uint8)
cells[1:10, 1:37] = rows

expected = jnp.asarray(cells)
for _ in range(50):
    shifted = [
        jnp.roll(expected, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)
    ]
    around = sum(shifted) - expected
    expected = ((around == 3) | ((around == 2) & (expected == 1))).astype(jnp.uint8)

final = np.asarray(evolve(cells))
assert np.array_equal(final, expected)
print("\n".join("".join(".O"[c] for c in row) for row in final))
