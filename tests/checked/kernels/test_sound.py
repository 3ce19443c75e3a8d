"""Right kernels: checked mode reports nothing and changes no result."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.planted import PLANTED

import jax_rawcuda as rc


@pytest.fixture
def f32(rng):
    return lambda *shape: rng.standard_normal(shape).astype(np.float32)


@pytest.fixture
def below(rng):
    return lambda limit, n: rng.integers(0, limit, n).astype(np.int32)


def launch(shapes, grid, block, **more):
    return {"shapes": shapes, "launch": rc.LaunchConfig(grid, block), **more}


def checked(name, *args, **contract):
    kernel = rc.kernel(PLANTED / "sound.cu", name, **contract)
    with jax.default_device(jax.devices("cpu")[0]), rc.checking():
        return jax.tree.map(np.asarray, kernel(*args))


def zeros(n, dtype=np.float32):
    return np.zeros(n, dtype)


def test_the_last_block_reads_what_the_others_fenced(f32):
    x = f32(8 * 64)
    contract = launch("512, 8, 1 -> 1", 8, 64, in_out=("partial", "done"))
    *_, y = checked("last_block_sum", x, zeros(8), zeros(1, np.uint32), **contract)
    np.testing.assert_allclose(y[0], x.sum(dtype=np.float64), rtol=1e-4, atol=1e-5)


def test_fences_of_all_threads_before_the_barrier(f32):
    x = f32(4 * 32)
    contract = launch("128, 128, 1 -> 32", 4, 32, in_out=("rows", "done"))
    *_, y = checked("last_block_rows", x, zeros(128), zeros(1, np.uint32), **contract)
    np.testing.assert_allclose(y, 2 * x.reshape(4, 32).sum(0), rtol=1e-5, atol=1e-5)


def test_a_lock(below):
    x = below(9, 16)
    contract = launch("16, 1, 1", 16, 32, in_out=("lock", "total"))
    _, total = checked("locked", x, zeros(1, np.int32), zeros(1, np.int32), **contract)
    assert total[0] == x.sum()


def test_the_same_value_from_many_threads(f32):
    x = f32(200)
    contract = {"shapes": "n, 1", "threads": "n", "block": 64, "in_out": "found"}
    assert checked("any_negative", x, zeros(1, np.int32), **contract)[0] == 1


def test_neighbouring_bytes(below):
    x = below(200, 150).astype(np.uint8)
    y = checked("bytes", x, shapes="n -> n", threads="n", block=64)
    np.testing.assert_array_equal(y, x + 1)


def test_padding_inside_of_vectors(f32):
    x = f32(32)
    y = checked("padded", x, **launch("32 -> 32", 1, 32))
    np.testing.assert_allclose(y, x[::-1] + 5, rtol=1e-6)


def test_warps_in_step(f32):
    x = f32(256)
    y = checked("warps", x, **launch("256 -> 2", 2, 128))
    np.testing.assert_allclose(y, x.reshape(2, 128).sum(1), rtol=1e-4, atol=1e-5)


def test_named_barriers(f32):
    x = f32(5, 32)
    y = checked("producer_consumer", x, **launch("n 32 -> n 32", 1, 64))
    np.testing.assert_array_equal(y, 2 * x[:, ::-1])


def test_threads_that_exit_early(f32):
    x = f32(40)
    y = checked("early_exit", x, **launch("n -> n", 1, 64))
    np.testing.assert_array_equal(y, x[::-1])


def test_arrays_of_device_functions(below):
    def walk(x, depth):
        near = [x[(depth + k) & 3] for k in range(4)]
        if depth == 0:
            return near[x[0] & 3]
        return near[depth & 3] + walk(near, depth - 1)

    x = below(4, 3)
    y = checked("recursive", x, **launch("3 -> 32", 1, 32))
    assert y.tolist() == [walk([*x, t], t & 3) for t in range(32)]


def test_blocks_that_meet(f32):
    x = f32(128)
    config = rc.LaunchConfig(4, 32, cooperative=True)

    @rc.op
    def shift(s, x):
        scratch = s.alloc_bytes(4 * x.size)
        y = s.alloc_output(x.shape, x.dtype)
        kernel = rc.compile_nvrtc(PLANTED / "sound.cu").function("grid_shift")
        s.launch(kernel, config, x, scratch, y)
        return y

    with jax.default_device(jax.devices("cpu")[0]), rc.checking():
        np.testing.assert_array_equal(shift(x), x[::-1])


def test_launches_fills_and_copies_define_contents(f32):
    source = rc.compile_nvrtc(PLANTED / "contents.cu")

    @rc.op
    def twice(s, x):
        y = s.alloc_output(x.shape, x.dtype, fill=0)
        z = s.alloc_output(x.shape, x.dtype)
        config = rc.LaunchConfig.flat(x.size, 64)
        s.launch(source.function("accumulate"), config, x, y, x.size)
        s.copy_bytes(z, y)
        s.launch(source.function("accumulate"), config, x, z, x.size)
        return z

    x = f32(100)
    with jax.default_device(jax.devices("cpu")[0]), rc.checking():
        np.testing.assert_allclose(twice(x), 2 * x, rtol=1e-6)


@pytest.mark.parametrize("axis", [0, 1])
def test_vmap(axis, f32):
    warps = rc.kernel(PLANTED / "sound.cu", "warps", **launch("256 -> 2", 2, 128))
    x = f32(3, 256)
    moved = jnp.moveaxis(jnp.asarray(x), 0, axis)
    with jax.default_device(jax.devices("cpu")[0]), rc.checking():
        y = jax.jit(jax.vmap(warps, in_axes=axis))(moved)
        want = x.reshape(3, 2, 128).sum(2)
        np.testing.assert_allclose(y, want, rtol=1e-4, atol=1e-5)
