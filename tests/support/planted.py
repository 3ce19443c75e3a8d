"""Kernels with one mistake each: how they are called, and what a report must say.

The sources are in `planted/`. Lines that a report must name end in `BUG <kernel>`.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field

import jax
import numpy as np
import pytest
from support.paths import TESTS

import jax_rawcuda as rc

PLANTED = TESTS / "checked" / "planted"
RNG = np.random.default_rng(5)


def f32(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def i32(*values):
    return np.asarray(values, np.int32)


def array(*shape, dtype="float32"):
    return jax.ShapeDtypeStruct(shape, dtype)


def below(limit, n):
    return RNG.integers(0, limit, n).astype(np.int32)


@dataclass(frozen=True)
class Bug:
    """A kernel, how it is called, and what must stand in the report."""

    file: str
    name: str
    args: tuple
    says: tuple[str, ...]
    contract: dict = field(default_factory=dict)

    def call(self, **defines):
        """Calls the kernel, compiled with these macros."""
        options = {"options": rc.NvrtcOptions(defines=defines)} if defines else {}
        kernel = rc.kernel(PLANTED / self.file, self.name, **self.contract, **options)
        return kernel(*self.args)


def flat(shapes, block=64, **more):
    return {"shapes": shapes, "threads": "n", "block": block, **more}


def launch(shapes, grid, block, **more):
    config = rc.LaunchConfig(grid, block, **more.pop("config", {}))
    return {"shapes": shapes, "launch": config, **more}


OUT = "out of bounds"
PLACE = re.compile(r"thread \(\d+,\d+,\d+\), block \(\d+,\d+,\d+\)")


def marked_lines(file, name):
    lines = (PLANTED / file).read_text().splitlines()
    mark = re.compile(rf"// BUG {name}$")
    return [number for number, line in enumerate(lines, 1) if mark.search(line)]


def report(call, *args):
    cpu = jax.default_device(jax.devices("cpu")[0])
    with cpu, pytest.raises(rc.CheckError) as caught, rc.checking():
        call(*args)
    return str(caught.value)


def check(bug, **defines):
    """Runs a kernel with a planted bug, and looks for what the report must say."""
    text = report(functools.partial(bug.call, **defines))
    assert text.startswith(f"{bug.name}: check failed: "), text
    for part in bug.says:
        assert part in text
    for line in marked_lines(bug.file, bug.name):
        assert f"{bug.file}:{line}" in text
    if "deadlock" in text:
        assert re.search(r"in block \(\d+,\d+,\d+\): .*\(first: \(\d+,", text), text
    elif "never written" not in text:
        assert PLACE.search(text), text
    if re.search("out of bounds|misaligned|data race|write to|nothing has", text):
        assert re.search(r"byte offset -?\d+", text), text


def function(file, name):
    return rc.compile_nvrtc(PLANTED / file).function(name)
