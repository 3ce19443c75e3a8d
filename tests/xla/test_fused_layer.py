"""The example of a fused layer: what XLA plans for it, and what it may not copy."""

from __future__ import annotations

import re
import runpy

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.paths import ROOT

EXAMPLE = ROOT / "examples" / "fused_layer.py"
ROWS, COLS = 32, 512


@pytest.fixture(scope="module")
def example():
    return runpy.run_path(str(EXAMPLE))


@pytest.fixture(params=["float32", "bfloat16"])
def arrays(request, device):
    rng = np.random.default_rng(11)

    def array(*shape):
        values = jnp.asarray(rng.normal(size=shape) / 2, request.param)
        return jax.device_put(values, device)

    return array(ROWS, COLS), [array(4, COLS) for _ in range(3)]


def test_the_workspace_is_in_the_memory_plan(example, arrays):
    x, weights = arrays
    first = [w[0] for w in weights]
    compiled = jax.jit(example["layer"], donate_argnums=0).lower(x, *first).compile()
    memory = compiled.memory_analysis()
    assert memory.alias_size_in_bytes == x.nbytes
    assert x.nbytes <= memory.temp_size_in_bytes <= x.nbytes + 1024
    assert not re.search(r" copy(-start)?\(", compiled.as_text())
    kept = jax.jit(example["layer"]).lower(x, *first).compile()
    assert kept.memory_analysis().alias_size_in_bytes == 0


def test_layers_in_a_scan_copy_nothing(example, arrays):
    x, weights = arrays
    run = jax.jit(example["network"], static_argnums=0, donate_argnums=1)
    compiled = run.lower(example["layer"], x, weights).compile()
    shape = rf"\w+\[{ROWS},{COLS}\]\S*"
    assert not re.search(rf"{shape} (copy|copy-start|fusion)\(", compiled.as_text())
    assert compiled.memory_analysis().alias_size_in_bytes == x.nbytes


def test_donation_gives_the_same_values(example, arrays):
    x, weights = arrays
    layer, network = example["layer"], example["network"]
    want = np.asarray(jax.jit(network, static_argnums=0)(layer, x, weights))
    donated = jax.jit(network, static_argnums=0, donate_argnums=1)
    got = np.asarray(donated(layer, x.copy(), weights))
    np.testing.assert_array_equal(got, want)
    by_hand = x
    for one in zip(*weights, strict=True):
        by_hand = layer(by_hand, *one)
    np.testing.assert_array_equal(by_hand, want)
