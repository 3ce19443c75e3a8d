"""Every planted mistake is reported; what is right passes, and gives the same."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from support.paths import TESTS
from support.planted import function, kernels, report, the

import jax_rawcuda as rc

CALLED = [kernel for kernel in kernels() if kernel.call]
WRONG = [kernel for kernel in CALLED if kernel.says]
RIGHT = [kernel for kernel in CALLED if kernel.switched or not kernel.says]
X = np.random.default_rng(5).standard_normal(64, np.float32)


@pytest.mark.parametrize("kernel", WRONG, ids=str)
def test_a_mistake_is_reported(kernel):
    kernel.check(report(kernel.run))


@pytest.mark.parametrize("kernel", RIGHT, ids=str)
def test_nothing_is_reported_about_a_right_kernel(kernel):
    with jax.default_device(jax.devices("cpu")[0]):
        unchecked = jax.tree.map(np.asarray, kernel.run(right=True))
        assert any(map(np.any, jax.tree.leaves(unchecked)))
        with rc.checking():
            checked = kernel.run(right=True)
    jax.tree.map(np.testing.assert_array_equal, checked, unchecked)


def test_every_planted_kernel_is_called():
    texts = [path.read_text() for path in TESTS.glob("checked/kernels/*.py")]
    for kernel in kernels():
        assert kernel.call or any(f'"{kernel.name}"' in text for text in texts), kernel


def test_a_null_pointer_is_reported():
    @rc.op
    def add_bias(s, x):
        y = s.alloc_output(x.shape, x.dtype)
        kernel = function("bounds.cu", "null_pointer")
        s.launch(kernel, rc.LaunchConfig.flat(x.size, 64), x, None, y, x.size)
        return y

    the("null_pointer").check(report(add_bias, X))


def test_a_workspace_that_is_read_before_it_is_written_is_reported():
    @rc.op
    def through_scratch(s, x):
        y = s.alloc_output(x.shape, x.dtype)
        scratch = s.alloc_bytes(8 * x.size + 4)
        kernel = function("contents.cu", "read_workspace")
        s.launch(kernel, rc.LaunchConfig.flat(x.size, 64), x, scratch, y, x.size)
        return y

    the("read_workspace").check(report(through_scratch, X))


def test_unchecked_calls_run_as_ever():
    kernel = the("too_few_threads")
    with jax.default_device(jax.devices("cpu")[0]):
        result = np.asarray(kernel.run())
    assert result.shape == (100,)
    np.testing.assert_array_equal(result[:64], kernel.arguments()[0][:64])
