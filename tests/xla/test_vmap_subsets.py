"""vmap of kernels, ops and live ops over each subset of operands, in place or not."""

from __future__ import annotations

import functools
import itertools

import jax
import numpy as np
import pytest

import jax_rawcuda as rc

MODULE = rc.compile_nvrtc(r"""
extern "C" __global__ void onward(const float* t, const float* x, const float* y,
                                  float* next, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    next[i] = t[i] * x[i] + y[i];
    out[i] = next[i] - x[i];
  }
}
extern "C" __global__ void in_place(float* t, const float* x, const float* y,
                                    float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    t[i] = t[i] * x[i] + y[i];
    out[i] = t[i] - x[i];
  }
}
""")
SIZE, N = 3, 7
SUBSETS = [s for s in itertools.product([0, None], repeat=3) if any(a == 0 for a in s)]
METHODS = ("sequential", "expand_dims", "broadcast_all", "legacy_vectorized")


@pytest.fixture
def device(default_device):
    return default_device


def kernel(in_place):
    if in_place:
        shapes, name = "n, n, n -> n", "in_place"
        return rc.kernel(MODULE, name, shapes=shapes, threads="n", in_out="t")
    return rc.kernel(MODULE, "onward", shapes="n, n, n -> n, n", threads="n")


def op(in_place):
    @rc.op
    def f(s, t, x, y):
        out = s.alloc_output(x.shape, x.dtype)
        config = rc.LaunchConfig.flat(x.size, 64)
        if in_place:
            t = s.tensor_mut(t)
            s.launch(MODULE.function("in_place"), config, t, x, y, out, x.size)
            return t, out
        new = s.alloc_output(x.shape, x.dtype)
        s.launch(MODULE.function("onward"), config, t, x, y, new, out, x.size)
        return new, out

    return f


def live_op(in_place, method, **more):
    """The same through the host; what broadcasts there may have the axis or not."""

    def f(s, t, x, y, out):
        new, out = (t, out) if in_place else out
        t_, x_, y_ = map(s.download_tensor, (t, x, y))
        value = np.broadcast_to(t_ * x_ + y_, new.shape)
        s.copy_bytes(new, s.upload(np.ascontiguousarray(value)))
        s.copy_bytes(out, s.upload(np.ascontiguousarray(value - x_)))

    def out(t, x, y):
        like = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return like if in_place else (like, like)

    names = "t" if in_place else ()
    return rc.live_op(f, out=out, in_out=names, vmap_method=method, **more)


def batch(rng, axes):
    """Random operands, and what a loop over the elements gives."""
    operands = [
        rng.uniform(-1, 1, (N,) if a is None else (SIZE, N)).astype(np.float32)
        for a in axes
    ]
    elements = [
        [x if a is None else x[i] for x, a in zip(operands, axes, strict=True)]
        for i in range(SIZE)
    ]
    new = np.stack([t * x + y for t, x, y in elements])
    out = np.stack([t * x + y - x for t, x, y in elements])
    return operands, (new, out)


MAKERS = {
    "kernel": kernel,
    "op": op,
    **{
        f"live, {method}": functools.partial(live_op, method=method)
        for method in METHODS
    },
}


@pytest.mark.parametrize("in_place", [True, False], ids=["in place", "apart"])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_each_subset(device, rng, make, in_place):
    f = make(in_place)
    for axes in SUBSETS:
        operands, want = batch(rng, axes)
        before = [x.copy() for x in operands]
        got = jax.jit(jax.vmap(f, axes))(*operands)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6, err_msg=axes)
        for x, old in zip(operands, before, strict=True):
            np.testing.assert_array_equal(x, old)


@pytest.mark.parametrize("name", sorted(MAKERS.keys() - {"live, legacy_vectorized"}))
def test_an_axis_each(device, rng, name):
    """Nested: each operand has an axis of its own."""
    f = MAKERS[name](True)
    t, x, y = (rng.uniform(-1, 1, (k, N)).astype(np.float32) for k in (2, 3, 4))
    mapped = f
    for axes in ((None, None, 0), (None, 0, None), (0, None, None)):
        mapped = jax.vmap(mapped, axes)
    new, out = jax.jit(mapped)(t, x, y)
    t, x, y = t[:, None, None], x[None, :, None], y[None, None]
    np.testing.assert_allclose(new, t * x + y, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(out, t * x + y - x, rtol=1e-5, atol=1e-6)


def test_a_live_op_with_side_effects_is_mapped(device, rng):
    f = live_op(True, "expand_dims", has_side_effect=True)
    operands, want = batch(rng, (None, 0, None))
    got = jax.jit(jax.vmap(f, (None, 0, None)))(*operands)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("in_place", [True, False])
def test_a_live_op_without_a_method_names_itself(in_place):
    f = live_op(in_place, None)
    with pytest.raises(rc.UnsupportedError) as caught:
        jax.vmap(f)(*[np.ones((SIZE, N), np.float32)] * 3)
    assert str(caught.value) == (
        "f has no rule for vmap. Give vmap_method=, one of 'sequential', "
        "'sequential_unrolled', 'expand_dims', 'broadcast_all', 'legacy_vectorized'."
    )


def test_an_unknown_method_is_refused():
    with pytest.raises(rc.ValidationError) as caught:
        live_op(True, "vectorised")
    assert str(caught.value).startswith(
        "f: vmap_method='vectorised'; it is one of 'sequential', "
    )
