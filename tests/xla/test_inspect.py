"""Which way launches take, told without running anything."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import jax_rawcuda as rc

SOURCE = """
extern "C" __global__ void twice(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * x[i];
}
__device__ int calls;
extern "C" __global__ void counts(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * x[i];
  if (i == 0) calls += 1;
}"""


def kernel(name="twice"):
    return rc.kernel(SOURCE, name, shapes="n -> n", threads="n", block=64)


def spec(*shape):
    return jax.ShapeDtypeStruct(shape, np.float32)


def test_one_call_has_one_launch():
    report = kernel().inspect(spec(100))
    assert report.op_name == "twice"
    assert (report.elements, report.at_once, report.workspace_bytes) == (1, 1, 0)
    (launch,) = report.launches
    assert (launch.kernel, launch.grid, launch.block) == (
        "twice",
        (2, 1, 1),
        (64, 1, 1),
    )
    assert str(report) == (
        "twice: 1 launches\n  twice: grid=(2, 1, 1), block=(64, 1, 1), host_ptx"
    )


@pytest.mark.parametrize("platform", ["cpu", "cuda"])
def test_a_batch_is_one_launch(platform):
    (report,) = rc.inspect(jax.vmap(kernel()), spec(7, 100), platform=platform)
    assert (report.elements, report.at_once) == (7, 7)
    assert [launch.at_once for launch in report.launches] == [True]
    assert "7 batch elements" in str(report)
    assert "one launch for all elements" in str(report)


def test_batches_beyond_a_grid_go_in_pieces():
    (report,) = rc.inspect(jax.vmap(kernel()), spec(200_000, 4))
    assert "200000 batch elements in 4 pieces of at most 65535" in str(report)


def test_a_kernel_that_writes_variables_says_why_it_loops():
    batched = jax.vmap(kernel("counts"))
    (report,) = rc.inspect(batched, spec(3, 4), platform="cuda")
    (launch,) = report.launches
    assert not launch.at_once
    assert "calls" in launch.reason
    assert f"one launch per element: {launch.reason}" in str(report)


def test_a_cooperative_launch_says_why_it_loops():
    function = rc.compile_nvrtc(SOURCE).function("twice")
    config = rc.LaunchConfig(1, 64, cooperative=True)

    @rc.op
    def run(s, x):
        out = s.alloc_output(x.shape, x.dtype)
        s.launch(function, config, x, out, x.size)
        return out

    (report,) = rc.inspect(jax.vmap(run), spec(3, 4))
    assert report.launches[0].reason.startswith("all blocks of a cooperative launch")


def test_every_call_of_a_program_is_found():
    @jax.jit
    def program(x):
        x = jax.lax.fori_loop(0, 3, lambda _, y: kernel()(y), x)
        return jax.lax.cond(x[0] > 0, kernel(), kernel("counts"), x)

    names = sorted(report.op_name for report in rc.inspect(program, spec(5)))
    assert names == ["counts", "twice", "twice"]


def test_a_wrong_platform_is_named():
    with pytest.raises(rc.ValidationError, match="platform='tpu': 'cuda' or 'cpu'"):
        rc.inspect(kernel(), spec(5), platform="tpu")


def test_the_log_says_it_when_a_program_is_made(monkeypatch, capfd, rng):
    monkeypatch.setenv("JAX_RAWCUDA_LOG", "1")
    x = rng.standard_normal((3, 5)).astype(np.float32)
    np.testing.assert_array_equal(jax.jit(jax.vmap(kernel()))(x), 2 * x)
    assert "twice: 1 launches, 3 batch elements" in capfd.readouterr().err
    monkeypatch.setenv("JAX_RAWCUDA_LOG", "yes")
    with pytest.raises(rc.ValidationError, match="JAX_RAWCUDA_LOG='yes': 0 or 1"):
        jax.jit(lambda x: kernel()(x + 1))(x[0])
