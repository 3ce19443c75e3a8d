"""Which way launches take, told without running anything."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import jax_rawcuda as rc
from jax_rawcuda._compile.target import Target

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


@pytest.mark.parametrize("platform", ["cpu", "cuda"])
def test_scalars_in_arrays_are_read_from_memory(platform):
    function = rc.kernel(
        """struct Step { float scale; double shift; };
        extern "C" __global__ void move(const float* x, Step step, float more,
                                        float* out, int n) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) out[i] = step.scale * x[i] + (float)step.shift + more;
        }""",
        shapes="n -> n",
        threads="n",
    )
    record = np.dtype([("scale", "f4"), ("shift", "f8")], align=True)
    step = np.array((2.0, 0.5), record)

    def dynamic(*arguments):
        (report,) = rc.inspect(function, *arguments, platform=platform)
        return report.launches[0].dynamic

    assert dynamic(spec(9), step, 0.5) == ()
    assert dynamic(spec(9), step, spec()) == ("more",)
    held = jax.ShapeDtypeStruct((16,), np.uint8)
    assert dynamic(spec(9), held, spec()) == ("step", "more")


def test_a_cubin_cannot_read_scalars_from_memory():
    text = "__global__ void k(const float* x, float a, float* y) { y[0] = a * x[0]; }"
    target = Target("cuda", "sm_90")
    cubin = rc.compile_nvrtc(text).function("k").image(target).data
    module = rc.load_cubin(cubin, signature=["k(const float* x, float a, float* y)"])
    function = rc.kernel(module, shapes="n -> n", threads="n")
    rc.inspect(function, spec(4), 0.5, platform="cuda")
    with pytest.raises(rc.UnsupportedError) as caught:
        rc.inspect(function, spec(4), spec(), platform="cuda")
    assert str(caught.value) == (
        "k: scalar 'a' is an array, but this kernel cannot read it from memory: a "
        "cubin is machine code, which is not rewritten. Make it a static Python number "
        "(static_argnums), or declare it `const T*` and read it in the kernel."
    )
