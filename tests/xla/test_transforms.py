"""A kernel under every JAX transformation, on the CPU and on a CUDA device alike."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc

fma = rc.kernel(
    r"""
extern "C" __global__ void fma3(const float* __restrict__ a,  // f32[n]
                                const float* __restrict__ x,  // f32[n]
                                const float* __restrict__ y,  // f32[n]
                                float* __restrict__ out,      // f32[n]
                                int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] * x[i] + y[i];
}""",
    shapes="n, n, n -> n",
    threads="n",
    block=64,
)

scale = rc.kernel(
    r"""
extern "C" __global__ void scale(float* x,  // f32[n], in place
                                 float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}""",
    shapes="n",
    in_out="x",
    threads="n",
    block=64,
)


@pytest.fixture
def device(default_device):
    return default_device


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def vectors(rng, *shape):
    return rng.standard_normal((3, *shape), np.float32)


def check(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


# Control flow


def test_jit_with_jnp_around(device, rng):
    a, x, y = vectors(rng, 100)
    got = jax.jit(lambda a, x, y: jnp.sum(2 * fma(a + 1, jnp.sin(x), y)))(a, x, y)
    check(got, np.sum(2 * ((a + 1) * np.sin(x) + y)))


def test_outside_jit(device, rng):
    a, x, y = vectors(rng, 33)
    got = fma(a, x, y)
    assert got.devices() == {device}
    check(got, a * x + y)


def test_scan(device, rng):
    a, x, y = vectors(rng, 33)

    def step(carry, a):
        carry = fma(a, carry, y)
        return carry, carry[0]

    rows = np.stack([a, -a, 2 * a])
    last, firsts = jax.jit(lambda x, rows: jax.lax.scan(step, x, rows))(x, rows)
    want, want_firsts = x, []
    for row in rows:
        want = row * want + y
        want_firsts.append(want[0])
    check(last, want)
    check(firsts, want_firsts)


def test_fori_loop(device, rng):
    a, x, y = vectors(rng, 33)
    loop = jax.jit(lambda x: jax.lax.fori_loop(0, 4, lambda _, c: fma(a, c, y), x))
    want = x
    for _ in range(4):
        want = a * want + y
    check(loop(x), want)


def test_while_loop_around_an_in_place_kernel(device, rng):
    x = 1 + rng.random(33, np.float32)
    loop = jax.jit(
        lambda x: jax.lax.while_loop(
            lambda c: jnp.max(c) < 100, lambda c: scale(c, 2.0), x
        )
    )
    check(loop(x), x * 2 ** np.ceil(np.log2(100 / x.max())))


def test_cond(device, rng):
    a, x, y = vectors(rng, 33)
    choose = jax.jit(
        lambda flag, x: jax.lax.cond(
            flag, lambda x: fma(a, x, y), lambda x: scale(x, 3.0), x
        )
    )
    check(choose(True, x), a * x + y)
    check(choose(False, x), 3 * x)


def test_checkpoint_and_custom_vjp(device, rng):
    a, x, _ = vectors(rng, 33)

    @jax.custom_vjp
    def product(a, x):
        return fma(a, x, jnp.zeros_like(x))

    product.defvjp(
        lambda a, x: (product(a, x), (a, x)),
        lambda saved, ct: (product(ct, saved[1]), product(ct, saved[0])),
    )

    @jax.jit
    def gradient(a, x):
        loss = jax.checkpoint(lambda a, x: jnp.sum(jnp.sin(product(a, x))))
        return jax.grad(loss, argnums=(0, 1))(a, x)

    got_a, got_x = gradient(a, x)
    check(got_a, np.cos(a * x) * x)
    check(got_x, np.cos(a * x) * a)


def test_eval_shape():
    spec = jax.ShapeDtypeStruct((5,), jnp.float32)
    got = jax.eval_shape(fma, spec, spec, spec)
    assert (got.shape, got.dtype) == ((5,), jnp.float32)


# vmap

SUBSETS = [axes for axes in itertools.product((0, None), repeat=3) if 0 in axes]


@pytest.mark.parametrize("in_axes", SUBSETS, ids=str)
def test_vmap_over_each_subset(device, rng, in_axes):
    arrays = [
        rng.standard_normal((6, 33) if axis == 0 else 33, np.float32)
        for axis in in_axes
    ]
    a, x, y = arrays
    check(jax.jit(jax.vmap(fma, in_axes))(*arrays), a * x + y)


def test_vmap_over_other_axes(device, rng):
    a = rng.standard_normal((33, 6), np.float32)
    x = rng.standard_normal((6, 33), np.float32)
    y = rng.standard_normal(33, np.float32)
    got = jax.jit(jax.vmap(fma, (1, 0, None), out_axes=1))(a, x, y)
    check(got, (a.T * x + y).T)


@pytest.mark.parametrize("inner", SUBSETS, ids=str)
@pytest.mark.parametrize("outer", [(0, None, None), (None, 0, 0)], ids=str)
def test_nested_vmap(device, rng, outer, inner):
    whole = [
        rng.standard_normal((4 if o == 0 else 1, 5 if i == 0 else 1, 33), np.float32)
        for o, i in zip(outer, inner, strict=True)
    ]
    got = jax.jit(jax.vmap(jax.vmap(fma, inner), outer))(*(w.squeeze() for w in whole))
    a, x, y = whole
    check(got, a * x + y)


def test_vmap_of_scan_of_vmap(device, rng):
    a, x, y = vectors(rng, 3, 33)

    def iterate(x):
        step = jax.vmap(fma)
        return jax.lax.scan(lambda c, _: (step(a, c, y), None), x, length=2)[0]

    starts = np.stack([x, 2 * x])
    got = jax.jit(jax.vmap(iterate))(starts)
    check(got, a * (a * starts + y) + y)


def test_vmap_of_an_in_place_kernel(device, rng):
    x = rng.standard_normal((4, 33), np.float32)
    check(jax.jit(jax.vmap(lambda row: scale(row, 0.5)))(x), 0.5 * x)


# Buffers


def test_in_place_kernel_keeps_a_value_that_is_still_needed(device, rng):
    x = rng.standard_normal(1000, np.float32)
    before, after = jax.jit(lambda x: (x, scale(x, 2.0)))(x)
    check(before, x)
    check(after, 2 * x)


def test_donated_operand_is_updated_in_place(device, rng):
    host = rng.standard_normal(1000, np.float32)
    # On the CPU, device_put may share NumPy's memory, which cannot be donated.
    x = jax.jit(lambda x: x + 0)(jax.device_put(host, device))
    pointer = x.unsafe_buffer_pointer()
    got = jax.jit(lambda x: scale(x, 2.0), donate_argnums=0)(x)
    assert x.is_deleted()
    assert got.unsafe_buffer_pointer() == pointer
    check(got, 2 * host)


def test_undonated_operand_is_left_alone(device, rng):
    host = rng.standard_normal(1000, np.float32)
    x = jax.device_put(host.copy(), device)
    check(jax.jit(lambda x: scale(x, 2.0))(x), 2 * host)
    check(x, host)


def test_non_contiguous_operands(device, rng):
    table = rng.standard_normal((40, 40), np.float32)

    @jax.jit
    def mixed(table):
        return fma(table.T[1], table[0, ::-1], jnp.broadcast_to(table[2, 3], (40,)))

    check(mixed(table), table.T[1] * table[0, ::-1] + table[2, 3])

    @jax.jit
    def strided(table):
        turned = table.T.reshape(-1)
        return fma(turned[::2], turned[1::2], table.reshape(-1)[::-2])

    turned = table.T.reshape(-1)
    check(strided(table), turned[::2] * turned[1::2] + table.reshape(-1)[::-2])


def test_transposed_numpy_operand_outside_jit(device, rng):
    table = rng.standard_normal((3, 50), np.float32)
    a, x, y = table.T[:3].T, table[:, ::-1], table
    check(fma(a[0, :], x[1, :3], y[2, 5:8]), a[0] * x[1, :3] + y[2, 5:8])


def test_zero_size_operands(device):
    empty = jnp.zeros((0,), jnp.float32)
    assert jax.jit(fma)(empty, empty, empty).shape == (0,)
    assert jax.jit(lambda x: scale(x, 2.0))(empty).shape == (0,)
    assert jax.jit(jax.vmap(fma))(*[jnp.zeros((0, 5))] * 3).shape == (0, 5)


def test_clear_caches(device, rng):
    a, x, y = vectors(rng, 33)
    before = jax.jit(fma)(a, x, y)
    jax.clear_caches()
    rc.clear_caches()
    np.testing.assert_array_equal(jax.jit(fma)(a, x, y), before)


def test_several_executables(device, rng):
    function = jax.jit(fma)
    operands = [vectors(rng, n) for n in (1, 64, 65, 1000)]
    for _ in range(2):
        for a, x, y in operands:
            check(function(a, x, y), a * x + y)
