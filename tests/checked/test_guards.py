"""Checked mode on a GPU: bands around what kernels may write."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc
from jax_rawcuda import _ffi
from jax_rawcuda._plan.commands import (
    BufferRef,
    DynamicArgument,
    Launch,
    Space,
    Verify,
)
from jax_rawcuda._plan.encode import encode
from jax_rawcuda._plan.guards import BAND, guarded
from jax_rawcuda._plan.schedule import schedule
from jax_rawcuda._xla import primitive as _primitive

SOURCE = r"""
extern "C" __global__ void run_over(const float* x, float* y, int n, int extra) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n + extra) y[i] = i < n ? x[i] : 1.0f;
}
extern "C" __global__ void some(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % 2 == 0) y[i] = x[i];
}
extern "C" __global__ void add_to(const float* x, float* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) total[i] += x[i];
}
"""


def run_over():
    launch = rc.LaunchConfig(2, 64)
    return rc.kernel(SOURCE, "run_over", shapes="n -> n", launch=launch)


@rc.op
def through_scratch(s, x, extra=0):
    y = s.alloc_output(x.shape, x.dtype)
    scratch = s.alloc_bytes(4 * x.size)
    kernel = rc.compile_nvrtc(SOURCE).function("run_over")
    config = rc.LaunchConfig(2, 64)
    s.launch(kernel, config, x, scratch, x.size, extra)
    s.launch(kernel, config, scratch, y, x.size, 0)
    return y


def recorded(monkeypatch, function, *args):
    """The plan that a checked call binds."""
    plans = []

    def keep(plan, operands):
        plans.append(plan)
        return [jnp.zeros(t.shape, t.dtype) for t in plan.results]

    monkeypatch.setattr(_primitive, "bind", keep)
    with rc.checking():
        function(*args)
    return plans[0]


def test_bands_are_looked_at_after_each_launch(monkeypatch):
    plan = guarded(recorded(monkeypatch, through_scratch, np.ones(64, np.float32)))
    assert plan.workspaces == (256 + 2 * BAND, 256 + 2 * BAND)
    kinds = [type(c) for c in plan.commands if isinstance(c, Launch | Verify)]
    assert kinds == [Launch, Verify, Launch, Verify, Verify]
    texts = [c.what for c in plan.commands if isinstance(c, Verify)]
    assert texts[0].startswith("run_over: check failed: argument 'y' (256 bytes")
    assert texts[2] == "run_over: check failed: argument 'y' (float32[64])"
    assert plan.synchronizes


def test_the_handler_reads_a_guarded_plan(monkeypatch):
    plan = guarded(recorded(monkeypatch, through_scratch, np.ones(64, np.float32)))
    attributes = encode(plan, schedule(plan, "cpu"))
    assert _ffi.check_plan(attributes["plan"], attributes["images"]) == ""


def test_scalars_in_memory_move_behind_its_band(monkeypatch):
    @rc.op
    def f(s, x, extra):
        length = s.alloc_bytes(8)
        s.copy_bytes(length[4:], extra)
        y = s.alloc_output(x.shape, x.dtype)
        function = rc.compile_nvrtc(SOURCE).function("run_over")
        s.launch(function, rc.LaunchConfig(2, 64), x, y, x.size, length[4:])
        return y

    plan = recorded(monkeypatch, f, np.ones(64, np.float32), np.int32(0))
    *_, before, argument = launch_of(plan).arguments
    guarded_plan = guarded(plan)
    assert argument == DynamicArgument("int", 4, BufferRef(Space.RESULT, 1, 4))
    assert launch_of(guarded_plan).arguments[-2:] == (
        before,
        DynamicArgument("int", 4, BufferRef(Space.RESULT, 1, BAND + 4)),
    )
    texts = [c.what for c in guarded_plan.commands if isinstance(c, Verify)]
    assert len(texts) == 1  # of what is written


def launch_of(plan):
    (launch,) = (c for c in plan.commands if isinstance(c, Launch))
    return launch


def test_a_plan_without_checks_stays_as_it_is(monkeypatch):
    plan = recorded(monkeypatch, through_scratch, np.ones(64, np.float32))
    plain = dataclasses.replace(plan, labels=None)
    assert guarded(plain) is plain


@pytest.fixture
def gpu():
    device = jax.devices("gpu")[0]
    with jax.default_device(device):
        yield device


@pytest.mark.gpu
def test_an_output_that_is_overrun(gpu):
    x = jnp.arange(64, dtype=jnp.float32)
    text = (
        r"run_over: check failed: argument 'y' \(float32\[64\]\): 12 bytes outside of "
        r"it were overwritten, from byte offset 256 to 267 \(it has 256\)"
    )
    with pytest.raises(rc.CheckError, match=text), rc.checking():
        run_over()(x, extra=3)
    jitted = jax.jit(lambda x: run_over()(x, extra=3))
    with pytest.raises(rc.CheckError, match=text), rc.checking():
        jax.block_until_ready(jitted(x))


@pytest.mark.gpu
def test_a_workspace_that_is_overrun(gpu):
    x = jnp.arange(64, dtype=jnp.float32)
    text = r"run_over: check failed: argument 'y' \(256 bytes, '.*'\): 8 bytes outside"
    with pytest.raises(rc.CheckError, match=text), rc.checking():
        through_scratch(x, extra=2)


@pytest.mark.gpu
def test_right_kernels_give_the_same_results(gpu):
    x = jnp.arange(64, dtype=jnp.float32)
    with rc.checking():
        np.testing.assert_array_equal(run_over()(x, extra=0), x)
        np.testing.assert_array_equal(through_scratch(x), x)
        batched = jax.vmap(through_scratch)(jnp.stack([x, x + 1, x + 2]))
    np.testing.assert_array_equal(batched, jnp.stack([x, x + 1, x + 2]))


@pytest.mark.gpu
def test_arrays_used_in_place(gpu):
    add = rc.kernel(SOURCE, "add_to", shapes="n, n", threads="n", in_out="total")
    x = jnp.arange(100, dtype=jnp.float32)
    with rc.checking():
        np.testing.assert_array_equal(add(x, 2 * x), 3 * x)


@pytest.mark.gpu
def test_what_is_not_written_is_nan(gpu):
    some = rc.kernel(SOURCE, "some", shapes="n -> n", threads="n")
    x = jnp.arange(64, dtype=jnp.float32)
    with rc.checking():
        y = np.asarray(some(x))
    np.testing.assert_array_equal(y[::2], x[::2])
    assert np.isnan(y[1::2]).all()
