"""How the host runs warps: shuffles, votes and masks of diverged lanes."""

from __future__ import annotations

import numpy as np
import pytest
from support.cpu_runner import run, zeros

T64 = np.arange(64)


def test_shuffles_of_sub_masks_in_loops_of_different_length():
    (out,) = run(
        """(int* out) {
          int t = threadIdx.x, g = t / 8, v = t;
          unsigned m = 0xffu << ((g & 3) * 8);
          for (int i = 0; i <= g; i++) {
            v += __shfl_xor_sync(m, v, 1 << (i % 3));
            __syncwarp(m);
          }
          out[t] = v;
        }""",
        zeros(64),
        block=64,
    )
    expected = T64.copy()
    for i in range(8):
        moved = expected + expected[T64 ^ (1 << i % 3)]
        expected = np.where(i <= T64 // 8, moved, expected)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("width", [32, 8])
def test_shuffle_modes(width):
    (out,) = run(
        f"""(int* out) {{
          int t = threadIdx.x;
          out[t] = __shfl_sync(~0u, t, 3, {width});
          out[64 + t] = __shfl_up_sync(~0u, t, 2, {width});
          out[128 + t] = __shfl_down_sync(~0u, t, 2, {width});
          out[192 + t] = __shfl_xor_sync(~0u, t, 5, {width});
        }}""",
        zeros(256),
        block=64,
    )
    lane, base = T64 % width, T64 - T64 % width
    np.testing.assert_array_equal(out[:64], base + 3)
    np.testing.assert_array_equal(out[64:128], np.where(lane >= 2, T64 - 2, T64))
    down = np.where(lane < width - 2, T64 + 2, T64)
    np.testing.assert_array_equal(out[128:192], down)
    np.testing.assert_array_equal(out[192:], T64 ^ 5)


def test_block_that_is_not_a_multiple_of_a_warp():
    (out,) = run(
        """(int* out) {
          int t = threadIdx.x, v = t;
          unsigned m = t < 32 ? ~0u : 0xffu;
          for (int d = 1; d < (t < 32 ? 32 : 8); d <<= 1)
            v += __shfl_xor_sync(m, v, d);
          out[t] = v;
        }""",
        zeros(40),
        block=40,
    )
    np.testing.assert_array_equal(out, [496] * 32 + [sum(range(32, 40))] * 8)


def test_ballot_in_a_data_dependent_loop():
    (out,) = run(
        """(int* out) {
          int t = threadIdx.x, c = 0, v = t % 7;
          while (__any_sync(~0u, v > 0)) {
            c += __popc(__ballot_sync(~0u, v > 0));
            v--;
          }
          out[t] = c;
        }""",
        zeros(64),
        block=64,
    )
    np.testing.assert_array_equal(out, np.repeat((T64 % 7).reshape(2, 32).sum(1), 32))


def test_match_and_active_mask():
    (out,) = run(
        """(unsigned* out) {
          int t = threadIdx.x;
          out[t] = __match_any_sync(~0u, t % 5);
          if (t % 4 == 1) out[32 + t] = __activemask();
          else if (t % 4 == 2) out[32 + t] = __activemask();
        }""",
        np.zeros(64, np.uint32),
    )
    masks = {r: sum(1 << t for t in range(r, 32, 5)) for r in range(5)}
    assert out[:32].tolist() == [masks[t % 5] for t in range(32)]
    quarters = {1: 0x22222222, 2: 0x44444444}
    assert out[32:].tolist() == [quarters.get(t % 4, 0) for t in range(32)]
