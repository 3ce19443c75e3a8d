"""What nobody has written may be copied, not used; nor may memory of malloc."""

from __future__ import annotations

import functools

import jax
import numpy as np
import pytest
from support.planted import Bug, check, f32, launch

import jax_rawcuda as rc

copies = functools.partial(
    Bug, "copies.cu", args=(f32(32),), contract=launch("32 -> 32", 1, 32)
)
UNWRITTEN = "that nothing has written"
RACE = ("data race", "not ordered")
CASES = [
    copies("moved_items", says=("'a' (512 bytes)", UNWRITTEN, "byte offset 504 ")),
    copies("sorted_items", says=("'a'", UNWRITTEN, "byte offset 48 ", "(0,0,0)")),
    copies("chosen_item", says=("'a'", UNWRITTEN, "thread (0,0,0)")),
    copies("written_over", says=("'a'", UNWRITTEN, "byte offset 64 (element 16)")),
    copies("copied_out", says=("'a'", UNWRITTEN, "byte offset 496 ", "(0,0,0)")),
    copies(
        "heap_gap",
        says=("memory from malloc (16 bytes)", UNWRITTEN, "thread (3,0,0)"),
    ),
    copies("heap_race", says=("memory from malloc (128 bytes)", UNWRITTEN)),
    copies("freed_early", says=("memory from malloc (128 bytes)", *RACE)),
    copies("endless_list", says=("from malloc (16 bytes)", UNWRITTEN, "offset 8 ")),
]


@pytest.mark.parametrize("bug", CASES, ids=lambda bug: bug.name)
def test_the_wrong_one_is_reported(bug):
    check(bug, RIGHT=0)


@pytest.mark.parametrize("bug", CASES, ids=lambda bug: bug.name)
def test_the_right_one_is_not(bug):
    right = functools.partial(bug.call, RIGHT=1)
    with jax.default_device(jax.devices("cpu")[0]):
        unchecked = np.asarray(right())
        with rc.checking():
            np.testing.assert_array_equal(right(), unchecked)
