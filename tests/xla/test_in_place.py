"""In-place operands: no copy where XLA needs none, and never a changed original."""

from __future__ import annotations

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jax_rawcuda as rc

N = 4096
increment = rc.kernel(
    r"""
__global__ void increment(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}""",
    shapes="n -> ",
    threads="n",
    in_out="x",
)


@rc.op
def twice(s, x):
    """Two launches on the same memory."""
    x = s.tensor_mut(x)
    for _ in range(2):
        config = rc.LaunchConfig.flat(x.size, 256)
        s.launch(increment.module.function("increment"), config, x, x.size)
    return x


STEPS = {"kernel": (increment, 1), "op": (twice, 2)}
by_step = pytest.mark.parametrize(("step", "by"), STEPS.values(), ids=STEPS)


@pytest.fixture
def x(device, rng):
    values = rng.integers(-1000, 1000, N).astype(np.float32)
    return jax.device_put(values, device)


def thousand(step, x):
    return jax.lax.fori_loop(0, 1000, lambda _, x: step(x), x)


def copies(compiled, inside):
    """Copies of the array in the computations whose name matches `inside`."""
    text = compiled.as_text()
    bodies = re.findall(r"^(?:ENTRY )?%([\w.-]+) [^\n]*\{\n(.*?)^\}", text, re.M | re.S)
    assert any(re.search(inside, name) for name, _ in bodies), text
    pattern = rf"f32\[{N}\]\S* (?:copy|copy-start|fusion)\("
    return [
        line
        for name, body in bodies
        if re.search(inside, name)
        for line in body.splitlines()
        if re.search(pattern, line)
    ]


@by_step
def test_a_loop_copies_nothing(x, step, by):
    donated = jax.jit(functools.partial(thousand, step), donate_argnums=0)
    compiled = donated.lower(x).compile()
    assert copies(compiled, r"region|while|body") == []
    assert copies(compiled, r"main") == []
    memory = compiled.memory_analysis()
    assert memory.alias_size_in_bytes == x.nbytes
    assert memory.temp_size_in_bytes < x.nbytes
    before = np.asarray(x)
    np.testing.assert_array_equal(donated(x), before + 1000 * by)


@by_step
def test_a_loop_on_a_kept_array_copies_once(x, step, by):
    kept = jax.jit(functools.partial(thousand, step))
    compiled = kept.lower(x).compile()
    assert copies(compiled, r"region|while|body") == []
    assert len(copies(compiled, r"main")) == 1
    before = np.array(x)
    np.testing.assert_array_equal(kept(x), before + 1000 * by)
    np.testing.assert_array_equal(x, before)


def test_the_test_sees_copies(x):
    """A step that also needs the old value must copy: else the tests above see none."""

    def both(x):
        return increment(x) + 0.5 * x

    compiled = jax.jit(functools.partial(thousand, both)).lower(x).compile()
    assert copies(compiled, r"region|while|body") != []


@by_step
@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_two_calls_on_one_operand_are_independent(x, step, by, wrap):
    before = np.array(x)

    def both(x):
        first = step(x)
        second = step(x)
        return first, step(second), x

    first, second, same = wrap(both)(x)
    np.testing.assert_array_equal(first, before + by)
    np.testing.assert_array_equal(second, before + 2 * by)
    np.testing.assert_array_equal(same, before)
    np.testing.assert_array_equal(x, before)


@by_step
def test_constants_are_never_written(device, step, by):
    """An operand known while compiling lives in the program itself."""
    table = np.arange(N, dtype=np.float32)
    with jax.default_device(device):
        constant = jax.jit(lambda: step(jnp.asarray(table)))
        for _ in range(3):
            np.testing.assert_array_equal(constant(), table + by)
    np.testing.assert_array_equal(table, np.arange(N))


@by_step
def test_numpy_arrays_are_never_written(device, step, by):
    array = np.arange(N, dtype=np.float32)
    with jax.default_device(device):
        np.testing.assert_array_equal(step(array), np.arange(N) + by)
        np.testing.assert_array_equal(jax.jit(step)(array), np.arange(N) + by)
    np.testing.assert_array_equal(array, np.arange(N))


def test_an_op_that_returns_nothing_else(x):
    """The new value may be all that there is, or may be thrown away."""
    before = np.array(x)

    @rc.op
    def forget(s, x, y):
        y = s.tensor_mut(y)
        s.fill_bytes(y, 0)
        return x

    kept = forget(x, x + 1)
    np.testing.assert_array_equal(kept, before)
    np.testing.assert_array_equal(jax.jit(twice)(x), before + 2)


def test_an_op_that_returns_nothing(x):
    """Nobody could see the new value."""

    @rc.op
    def lost(s, x):
        s.fill_bytes(s.tensor_mut(x), 0)

    text = (
        "lost: it has no results, so XLA would never run it. Give the kernel out= or "
        "in_out=, return a result from the op, or say has_side_effect=True."
    )
    for f in (lost, jax.jit(lost)):
        with pytest.raises(rc.ValidationError) as caught:
            f(x)
        assert str(caught.value) == text
