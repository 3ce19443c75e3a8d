"""Cooperative groups beside the headers of CCCL that declare them too."""

from __future__ import annotations

import numpy as np
import pytest
from support.launching import launch

GROUPS = "cooperative_groups.h"
PLAIN = "using namespace cooperative_groups;"
USES = {
    "unqualified": f"{PLAIN}\n#define CG",
    "alias": "namespace cg = cooperative_groups;\n#define CG cg::",
}
REVERSE = """
__device__ int below(CG thread_group group) { return group.thread_rank(); }

__global__ void reverse(const int* x, int* y) {
  CG thread_block block = CG this_thread_block();
  CG thread_block_tile<32> tile = CG tiled_partition<32>(block);
  CG coalesced_group lanes = CG coalesced_threads();
  CG grid_group grid = CG this_grid();
  int sum = CG reduce(tile, x[grid.thread_rank()], CG plus<int>());
  sum += CG inclusive_scan(lanes, 1) - below(block) % 32;
  sync(block);
  y[block.size() - 1 - block.thread_rank()] = sum;
}
"""
COPY = """
__global__ void copy(const int* x, int* y) {
  CG thread_block block = CG this_thread_block();
  __shared__ int tile[64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
  auto pipe = cuda::make_pipeline(block, &state);
  pipe.producer_acquire();
  cuda::memcpy_async(block, tile, x, sizeof(tile), pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
  y[block.thread_rank()] = tile[63 - block.thread_rank()];
  pipe.consumer_release();
}
"""


def run(device, headers, use, source, name, x):
    lines = [f"#include <{header}>" for header in headers]
    text = "\n".join([*lines, USES[use], source])
    return launch(device, text, name, x, out=[(64, "i4")], block=64)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("header", ["cuda/pipeline", "cuda/barrier"])
@pytest.mark.parametrize("first", [True, False])
def test_groups_beside_cccl(device, rng, header, first, use):
    more = ["cooperative_groups/reduce.h", "cooperative_groups/scan.h"]
    headers = [header, GROUPS, *more] if first else [GROUPS, *more, header]
    x = rng.integers(0, 100, 64).astype(np.int32)
    got = run(device, headers, use, REVERSE, "reverse", x)
    want = np.repeat(x.reshape(2, 32).sum(1) + 1, 32)[::-1]
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "headers", [("cuda/pipeline", GROUPS), (GROUPS, "cuda/pipeline")]
)
def test_pipelines_take_groups(device, rng, headers):
    x = rng.integers(0, 100, 64).astype(np.int32)
    got = run(device, headers, "unqualified", COPY, "copy", x)
    np.testing.assert_array_equal(got, x[::-1])
