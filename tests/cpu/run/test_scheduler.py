"""How the host runs blocks: divergence, barriers, spinning, concurrency."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from support.cpu_runner import run, zeros

T64 = np.arange(64)


# Threads of a block that go different ways


def test_barriers_in_both_branches():
    (out,) = run(
        """(int* out) {
          __shared__ int s[64];
          int t = threadIdx.x;
          s[t] = t;
          if (t & 1) { __syncthreads(); out[t] = s[63 - t]; }
          else { __syncthreads(); out[t] = s[(t + 5) & 63] * 2; }
        }""",
        zeros(64),
        block=64,
    )
    np.testing.assert_array_equal(out, np.where(T64 & 1, 63 - T64, (T64 + 5) % 64 * 2))


@pytest.mark.parametrize("living", [256, 255, 129, 100, 1])
def test_barriers_after_threads_have_exited(living):
    (out, _) = run(
        """(int* out, const int* living) {
          __shared__ int s[256];
          int t = threadIdx.x, n = *living, v = t;
          if (t >= n) return;
          for (int i = 0; i < 20; i++) {
            s[t] = v;
            __syncthreads();
            v = s[(t + 1) % n];
            __syncthreads();
          }
          out[blockIdx.x * blockDim.x + t] = v;
        }""",
        zeros(3 * 256),
        np.int32([living]),
        grid=3,
        block=256,
    )
    expected = zeros(256)
    expected[:living] = (np.arange(living) + 20) % living
    np.testing.assert_array_equal(out.reshape(3, 256), np.tile(expected, (3, 1)))


def test_every_other_thread_exits_before_a_barrier():
    (out,) = run(
        """(int* out) {
          __shared__ int s[96];
          int t = threadIdx.x;
          s[t] = t * t;
          if (t % 2) return;
          __syncthreads();
          out[t] = s[94 - t];
        }""",
        zeros(96),
        block=96,
    )
    t = np.arange(96)
    np.testing.assert_array_equal(out, np.where(t % 2, 0, (94 - t) ** 2))


def test_named_barriers_of_two_groups():
    (out,) = run(
        """(int* out) {
          __shared__ int s[128];
          int t = threadIdx.x, g = t / 64;
          for (int i = 0; i < 3 + g; i++) {
            s[t] = t + i;
            asm volatile("bar.sync %0, 64;" :: "r"(g + 1) : "memory");
            out[t] = s[g * 64 + 63 - t % 64];
            asm volatile("bar.sync %0, 64;" :: "r"(g + 1) : "memory");
          }
        }""",
        zeros(128),
        block=128,
    )
    t = np.arange(128)
    np.testing.assert_array_equal(out, t // 64 * 64 + 63 - t % 64 + 2 + t // 64)


def test_producers_arrive_without_waiting():
    (out,) = run(
        """(int* out) {
          __shared__ int s[32];
          int t = threadIdx.x;
          if (t >= 32) {
            s[t - 32] = t;
            asm volatile("bar.arrive 3, 64;" ::: "memory");
          } else {
            asm volatile("bar.sync 3, 64;" ::: "memory");
            out[t] = s[31 - t];
          }
        }""",
        zeros(32),
        block=64,
    )
    np.testing.assert_array_equal(out, 63 - np.arange(32))


@pytest.mark.parametrize("diverged", ["0", "t % 3 == 0"])
def test_barrier_reductions(diverged):
    (out,) = run(
        f"""(int* out) {{
          int t = threadIdx.x, c, a, o;
          if ({diverged}) {{ c = __syncthreads_count(t < 10); }}
          else {{ c = __syncthreads_count(t < 10); }}
          a = __syncthreads_and(t >= 0);
          o = __syncthreads_or(t == 200);
          out[t] = c * 100 + (a != 0) * 10 + (o != 0);
        }}""",
        zeros(96),
        block=96,
    )
    np.testing.assert_array_equal(out, np.full(96, 1010))


# Blocks and threads that wait for each other by spinning


def test_lock_inside_a_warp():
    (_, counter) = run(
        """(int* lock, int* counter) {
          bool done = false;
          while (!done) {
            if (atomicCAS(lock, 0, 1) == 0) {
              *(volatile int*)counter += 1;
              __threadfence();
              atomicExch(lock, 0);
              done = true;
            }
          }
        }""",
        zeros(1),
        zeros(1),
        grid=8,
        block=64,
    )
    assert counter.tolist() == [512]


@pytest.mark.parametrize("blocks", [2, 100, 300])
def test_later_blocks_feed_earlier_ones(blocks):
    (_, out) = run(
        """(volatile int* flag, int* out) {
          int b = blockIdx.x, n = gridDim.x;
          if (threadIdx.x != 0) return;
          if (b < n - 1) while (flag[b + 1] == 0) {}
          out[b] = (b < n - 1 ? out[b + 1] : 0) + 1;
          __threadfence();
          flag[b] = 1;
        }""",
        zeros(blocks),
        zeros(blocks),
        grid=blocks,
    )
    np.testing.assert_array_equal(out, np.arange(blocks, 0, -1))


def test_barrier_of_a_grid():
    (_, out) = run(
        """(int* arrived, int* out) {
          int n = gridDim.x;
          for (int i = 1; i <= 5; i++) {
            __syncthreads();
            if (threadIdx.x == 0) {
              __threadfence();
              atomicAdd(arrived, 1);
              while (*(volatile int*)arrived < i * n) {}
            }
            __syncthreads();
            if (threadIdx.x == 0) out[blockIdx.x] += *(volatile int*)arrived >= i * n;
          }
        }""",
        zeros(1),
        zeros(40),
        grid=40,
        block=64,
    )
    assert out.tolist() == [5] * 40


def test_a_whole_block_polls():
    (_, out) = run(
        """(volatile int* flag, int* out) {
          __shared__ int seen;
          if (blockIdx.x == gridDim.x - 1) {
            if (threadIdx.x == 0) *flag = 1;
            return;
          }
          while (true) {
            if (threadIdx.x == 0) seen = *flag;
            __syncthreads();
            if (seen) break;
            __syncthreads();
          }
          out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
        }""",
        zeros(1),
        zeros(5 * 64),
        grid=6,
        block=64,
    )
    assert out.all()


# Launches side by side


def test_launches_from_several_threads():
    source = """(int* out) {
      __shared__ int s[128];
      int t = threadIdx.x;
      s[t] = blockIdx.x;
      __syncthreads();
      out[blockIdx.x * 128 + t] += s[127 - t] + t;
    }"""
    failures = []

    def work(seed):
        for i in range(20):
            start = np.full(64 * 128, seed + i, np.int32)
            (out,) = run(source, start, grid=64, block=128)
            expected = (
                start + np.repeat(np.arange(64), 128) + np.tile(np.arange(128), 64)
            )
            if not np.array_equal(out, expected):
                failures.append(seed)

    run(source, np.zeros(64 * 128, np.int32), grid=64, block=128)
    threads = [threading.Thread(target=work, args=(100 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
