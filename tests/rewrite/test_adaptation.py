"""The order of the appended parameters, which callers and the rewriting share."""

from __future__ import annotations

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
    assert values == (3, 5, 6, 96, 0, 8, 0, 4, 0)
    assert len(values) == adaptation.appended_count
