"""Every exactly defined operation on the CPU, bit for bit against a recorded GPU."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from support.operations import all as operations
from support.paths import DATA

RECORDED = operations.load(DATA / "operations.npz")


@pytest.fixture(autouse=True)
def cpu():
    with jax.default_device(jax.devices("cpu")[0]):
        yield


@pytest.mark.parametrize(
    "group", operations.groups(), ids=lambda group: group.operations[0].name
)
def test_results_have_the_bits_of_the_gpu(group):
    results, special = group.run()
    wrong = []
    for operation, bits in zip(group.operations, results, strict=True):
        want, sums = RECORDED[operation.name]
        want = want.view(bits.dtype)
        if bad := np.flatnonzero(bits[:special] != want).tolist():
            rows = [operands_of(group, row) for row in bad[:4]]
            got = [f"{bits[row]:#x} for {want[row]:#x}" for row in bad[:4]]
            wrong.append((operation.name, len(bad), rows, got))
        elif operations.checksums(bits[special:]) != sums:
            wrong.append((operation.name, "on random operands"))
    assert not wrong


def operands_of(group, row):
    """The operands of a row, as words in hexadecimal."""
    arrays, special = operations.operands(group.operands)
    rows = special + operations.RANDOM
    return [f"{operations.words(array, rows)[row]:#x}" for array in arrays]


def test_every_operation_is_recorded():
    assert {o.name for o in operations.OPERATIONS} == RECORDED.keys()
