"""The order of the appended parameters, which callers and the rewriting share."""

from __future__ import annotations

import re

import numpy as np
import pytest

from jax_rawcuda import ValidationError
from jax_rawcuda._rewrite.adaptation import Adaptation


def test_nothing_is_appended_without_batch_axes():
    adaptation = Adaptation(dynamic=(1,))
    assert adaptation.appended_count == 0
    assert adaptation.appended(0, (), {}) == ()


def test_one_axis_needs_no_size():
    adaptation = Adaptation(1, (0, 2))
    values = adaptation.appended(7, (5,), {2: (12,), 0: (400,)})
    assert values == (7, 400, 12)
    assert len(values) == adaptation.appended_count


def test_inner_sizes_then_strides_by_parameter():
    adaptation = Adaptation(3, (1, 4), dynamic=(4,))
    strides = {1: (96, 0, 8), 4: (0, 4, 0)}
    values = adaptation.appended(3, (2, 5, 6), strides)
    fifth, sixth = 2**64 // 5 + 1, 2**64 // 6 + 1
    assert values == (3, 5, fifth, 6, sixth, 96, 0, 8, 0, 4, 0)
    assert len(values) == adaptation.appended_count


def test_reciprocals_divide_all_indices():
    rng = np.random.default_rng(0)
    sizes = [2, 3, 7, 2**16 - 1, 2**16, 2**31, 2**32 - 1, 2**32]
    for size in [*sizes, *map(int, rng.integers(2, 2**32, 100))]:
        reciprocal = Adaptation(2).appended(0, (1, size), {})[2]
        last = (2**32 - 1) // size * size
        for index in (0, 1, size - 1, size, last - 1, last, 2**32 - 1):
            if 0 <= index < 2**32:
                assert index * reciprocal >> 64 == index // size


@pytest.mark.parametrize("sizes", [(4, 1), (3, 1, 5), (2**31, 3)])
def test_batches_that_indices_cannot_be_found_in(sizes):
    message = re.escape(
        f"batch axes of {sizes} elements: inner ones need 2 or more, and all together "
        "may have 4,294,967,296."
    )
    with pytest.raises(ValidationError, match=message):
        Adaptation(len(sizes)).appended(0, sizes, {})
    assert Adaptation(1).appended(0, (2**40,), {}) == (0,)
