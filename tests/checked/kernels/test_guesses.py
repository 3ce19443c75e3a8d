"""Plain reads that a compare-and-swap verifies are no races, and give right values."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from support.planted import PLANTED

import jax_rawcuda as rc

RNG = np.random.default_rng(7)
WHOLE = RNG.integers(-9, 9, 128).astype(np.float64)  # their sums are exact
PAIRS = WHOLE.reshape(64, 2).astype(np.float32)
SHORT = RNG.integers(0, 999, 64).astype(np.uint16)
FLOATS = RNG.standard_normal(128).astype(np.float32)
LOW = np.float32([-9, -9])


def checked(name, *arguments, shapes, grid=2, block=64, in_out="y"):
    launch = rc.LaunchConfig(grid, block)
    kernel = rc.kernel(
        PLANTED / "guesses.cu", name, shapes=shapes, launch=launch, in_out=in_out
    )
    cpu = jax.default_device(jax.devices("cpu")[0])
    with cpu, jax.enable_x64(True), rc.checking():
        return jax.tree.map(np.asarray, kernel(*arguments))


@pytest.mark.parametrize(
    "name", ["double_sum", "double_sum_in_shared", "double_sum_by_function"]
)
def test_sums_of_doubles(name):
    (y,) = checked(name, WHOLE, np.zeros(1), shapes="128, 1")
    assert y == WHOLE.sum()


def test_maxima_of_floats():
    (y,) = checked("float_maximum", FLOATS, LOW[:1], shapes="128, 1")
    assert y == FLOATS.max()
    y = checked("float_maximum_strided", FLOATS, LOW, 128, shapes="128, 2", block=16)
    np.testing.assert_array_equal(y, FLOATS.reshape(-1, 2).max(axis=0))


def test_sums_of_halves_of_a_word():
    zeros = np.zeros(2, np.uint16)
    (y,) = checked("short_sum", SHORT, zeros[:1], shapes="64, 1", grid=1)
    assert y == SHORT.sum(dtype=np.uint16)
    y = checked("half_word_sum", SHORT, zeros, shapes="64, 2", grid=1)
    np.testing.assert_array_equal(y, SHORT.reshape(-1, 2).sum(0, dtype=np.uint16))


def test_sums_of_pairs():
    (y,) = checked("pair_sum", PAIRS, 0 * PAIRS[:1], shapes="64 2, 1 2", grid=1)
    np.testing.assert_array_equal(y, PAIRS.sum(axis=0))


def test_a_guess_may_be_written_down_before_it_is_verified():
    head, unused = np.int32([-1]), np.zeros(128, np.int32)
    (last,), following, before = checked(
        "push", head, unused, shapes="1, 128 -> 128", in_out=("head", "next")
    )
    assert sorted(following) == [-1, *sorted(set(range(128)) - {last})]
    np.testing.assert_array_equal(following, before)


def test_a_swap_may_fail():
    x = np.arange(1, 65, dtype=np.int32)
    (y,) = checked("try_once", x, np.int32([0]), shapes="64, 1", grid=1)
    assert y > 0
