"""Interleaved medians, and the table that goes into RESULTS.md."""

from __future__ import annotations

import datetime
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import jax
import jaxlib
import numpy as np

import jax_rawcuda as rc


def interleaved(
    functions: Mapping[str, Callable[[], object]], rounds: int = 15
) -> dict[str, float]:
    """Times functions in turn; returns the median seconds of each.

    Taking turns spreads a slow phase of the machine over all of them, so that ratios
    hold where absolute times wander.
    """
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():  # compile, load, touch the memory
        jax.block_until_ready(function())
        jax.block_until_ready(function())
    for _ in range(rounds):
        for name, function in functions.items():
            start = time.perf_counter()
            jax.block_until_ready(function())
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def markdown(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Formats a table; numbers after the first column are right-aligned."""
    header = list(header)
    lines = [header, ["---"] + ["---:"] * (len(header) - 1)]
    lines += [[str(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine() -> str:
    """Describes where and when a benchmark ran, as one line of Markdown."""
    kind = jax.devices()[0].device_kind
    if jax.default_backend() == "cpu":
        kind = f"{os.cpu_count()} x {_cpu_model()}"
    parts = [
        kind,
        f"Python {platform.python_version()}",
        f"jax {jax.__version__}, jaxlib {jaxlib.__version__}",
        f"NumPy {np.__version__}",
        f"jax_rawcuda {rc.__version__}",
        datetime.datetime.now(datetime.UTC).date().isoformat(),
    ]
    return "; ".join(parts) + "."


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
