"""The corpus of CUDA kernels in `kernels/`, and how tests call it on any device."""

from __future__ import annotations

import jax
import numpy as np
from support.paths import KERNELS

import jax_rawcuda as rc

SIZES = [1, 31, 33, 1023, 1025]


def kernel(file, name, **contract):
    return rc.kernel(KERNELS / file, name, **contract)


def run(function, device, *arrays):
    """Calls jitted `function` on `device`; returns NumPy arrays."""
    results = jax.jit(function)(*(jax.device_put(a, device) for a in arrays))
    for result in jax.tree.leaves(results):
        assert result.devices() == {device}
    return jax.tree.map(np.asarray, results)


def one_block_per_row(block):
    return lambda x, *_: rc.LaunchConfig(grid=x.shape[0], block=block)


def doubled(*arrays):
    return tuple(a.astype(np.float64) for a in arrays)
