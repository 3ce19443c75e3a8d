"""Plain reads that a compare-and-swap verifies, and some that it does not."""

from __future__ import annotations

import functools

import jax
import numpy as np
import pytest
from support.planted import Bug, check, f32, launch

import jax_rawcuda as rc

guess = functools.partial(Bug, "guesses.cu")
RNG = np.random.default_rng(7)
RACE = ("data race", "not ordered")
WHOLE = RNG.integers(-9, 9, 128).astype(np.float64)  # their sums are exact
SHORT = RNG.integers(0, 999, 64).astype(np.uint16)
FLOATS = f32(128)


def sums(x):
    return np.asarray([x.sum(dtype=x.dtype)])


def cased(name, args, want, shapes, grid=2, block=64, in_out="y"):
    bug = guess(name, args, (), launch(shapes, grid, block, in_out=in_out))
    return pytest.param(bug, want, id=name)


def zeros(n, like):
    return np.zeros(n, like.dtype)


LOW = np.float32([-9, -9])
PAIRS = WHOLE.reshape(64, 2).astype(np.float32)
RIGHT = [
    cased("double_sum", (WHOLE, zeros(1, WHOLE)), sums(WHOLE), "128, 1"),
    cased("double_sum_in_shared", (WHOLE, zeros(1, WHOLE)), sums(WHOLE), "128, 1"),
    cased("double_sum_by_function", (WHOLE, zeros(1, WHOLE)), sums(WHOLE), "128, 1"),
    cased("float_maximum", (FLOATS, LOW[:1]), FLOATS.max(keepdims=True), "128, 1"),
    cased(
        "float_maximum_strided",
        (FLOATS, LOW, 128),
        FLOATS.reshape(-1, 2).max(axis=0),
        "128, 2",
        block=16,
    ),
    cased("short_sum", (SHORT, zeros(1, SHORT)), sums(SHORT), "64, 1", 1),
    cased(
        "half_word_sum",
        (SHORT, zeros(2, SHORT)),
        SHORT.reshape(-1, 2).sum(axis=0, dtype=np.uint16),
        "64, 2",
        1,
    ),
    cased(
        "pair_sum",
        (PAIRS, zeros((1, 2), PAIRS)),
        PAIRS.sum(axis=0)[None],
        "64 2, 1 2",
        1,
    ),
]


def run_checked(bug, **defines):
    cpu = jax.default_device(jax.devices("cpu")[0])
    with cpu, jax.enable_x64(True), rc.checking():
        return jax.tree.map(np.asarray, bug.call(**defines))


@pytest.mark.parametrize(("bug", "want"), RIGHT)
def test_a_read_that_is_verified_is_no_race(bug, want):
    np.testing.assert_array_equal(run_checked(bug), want)


def test_a_guess_may_be_written_down_before_it_is_verified():
    head, unused = np.int32([-1]), np.zeros(128, np.int32)
    contract = launch("1, 128 -> 128", 2, 64, in_out=("head", "next"))
    push = guess("push", (head, unused), (), contract)
    (last,), following, before = run_checked(push)
    assert sorted(following) == [-1, *sorted(set(range(128)) - {last})]
    np.testing.assert_array_equal(following, before)


def test_a_swap_may_fail():
    x = np.arange(1, 65, dtype=np.int32)
    contract = launch("64, 1", 1, 64, in_out="y")
    (got,) = run_checked(guess("try_once", (x, np.int32([0])), (), contract))
    assert got > 0


COUNT = launch("1, 64", 2, 32, in_out=("total", "y"))
COUNTED = np.zeros(1, np.int32), np.zeros(64, np.int32), 10
ON_TOTAL = ("argument 'total' (int32[1])", *RACE)
WRONG = [
    guess("told", COUNTED, ON_TOTAL, COUNT),
    guess("one_side", COUNTED, ON_TOTAL, COUNT),
    guess("other_value", COUNTED, ON_TOTAL, COUNT),
    guess("message", COUNTED, ("argument 'y' (int32[64])", *RACE), COUNT),
]


@pytest.mark.parametrize("bug", WRONG, ids=lambda bug: bug.name)
def test_a_read_that_is_not_verified_is_a_race(bug):
    check(bug, RIGHT=0)


@pytest.mark.parametrize("bug", WRONG, ids=lambda bug: bug.name)
def test_its_right_twin_passes(bug):
    run_checked(bug, RIGHT=1)
