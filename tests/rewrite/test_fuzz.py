"""Random kernels over a batch: bit for bit as they run on one element after another."""

from __future__ import annotations

import numpy as np
import pytest
from support.fuzz.kernels import GRID, RICH, TOTALS, generate, preamble
from support.rewriting import Result, compiled, run

from jax_rawcuda._compile.compilation import kernel_entries
from jax_rawcuda._compile.compiler import CLANG, nvrtc_for
from jax_rawcuda._rewrite.adaptation import Adaptation

COUNT = 3
SEEDS = [*range(4), *range(RICH, RICH + 8)]
SOURCE = preamble(SEEDS) + "".join(generate(seed).source for seed in SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_kernels(device, seed):
    program = generate(seed)
    compiler = CLANG if device.platform == "cpu" else nvrtc_for("sm_90")
    symbols = [entry.symbol for entry in kernel_entries(compiled(SOURCE, compiler))]
    (symbol,) = (
        s for s in symbols if s.startswith(f"_Z{len(program.name)}{program.name}P")
    )
    words = np.stack([program.input(seed + element) for element in range(COUNT)])
    out = Result((GRID * program.block, program.words), "uint32")

    def launch(data, adaptation, **batch):
        arguments = [data, Result((TOTALS,), "uint32"), out]
        config = {"grid": (GRID, 1), "block": program.block, **batch}
        return run(device, SOURCE, symbol, adaptation, arguments, **config)

    batched = launch(words, Adaptation(1, (0, 1, 2)), sizes=(COUNT,))
    alone = [launch(element, Adaptation()) for element in words]
    for all_of_them, *each in zip(batched, *alone, strict=True):
        np.testing.assert_array_equal(all_of_them, np.stack(each))
