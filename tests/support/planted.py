"""Kernels with one mistake each: how they are called, and what a report must say.

Both stand beside the kernel, in the files of `checked/planted/`:

    // CALL: f32(100), 3 | n -> n | block=64
    // SAYS: argument 'x' (float32[100]); byte offset 400;
    //   thread (35,0,0), block (1,0,0)
    __global__ void shifted(...) {
      ...  // BUG shifted

CALL holds for the kernels below it, until the next one: arguments, shapes, and the rest
of the contract, as Python; without a grid, one thread works at each of `n`. SAYS lists
what must stand in the report on the kernel below it, BUG marks the lines that it must
name. A kernel without SAYS is right. Where a file asks for the macro RIGHT, its kernels
with SAYS are wrong where that is 0, and right where it is 1. Kernels above the first
CALL of their file are called by tests of their own.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

import jax
import numpy as np
import pytest
from support.paths import TESTS

import jax_rawcuda as rc

PLANTED = TESTS / "checked" / "planted"
PLACE = re.compile(r"thread \(\d+,\d+,\d+\), block \(\d+,\d+,\d+\)")
NOTE = re.compile(
    r"^// (CALL|SAYS): *(.*(?:\n//   .*)*)|__global__ void (\w+)\(", re.MULTILINE
)


class Arguments:
    """What a CALL may ask for; the same numbers in every run."""

    np, rc = np, rc

    def __init__(self):
        self._rng = np.random.default_rng(5)

    def f32(self, *shape):
        return self._rng.standard_normal(shape).astype(np.float32)

    def below(self, limit, *shape):
        return self._rng.integers(0, limit, shape).astype(np.int32)

    def i32(self, *values):
        return np.asarray(values, np.int32)

    def zeros(self, n, dtype="i4"):
        return np.zeros(n, dtype)

    def read(self, text):
        names = {name: getattr(self, name) for name in dir(self) if name[0] != "_"}
        return eval(text, names)


@dataclass(frozen=True)
class Kernel:
    """A kernel, how it is called, and what must stand in the report, if any."""

    file: str
    name: str
    call: str | None
    says: tuple[str, ...]
    switched: bool  # by the macro RIGHT

    def __str__(self):
        return f"{self.file.removesuffix('.cu')}-{self.name}"

    def run(self, right=False):
        """Calls the kernel; a macro tells whether the right or the wrong one."""
        _, shapes, contract = self._parts()
        contract = Arguments().read(f"dict({contract})")
        in_out = contract.pop("in_out", ())
        if "grid" in contract:
            contract = {"launch": rc.LaunchConfig(**contract)}
        else:
            contract["threads"] = "n"
        if self.switched:
            contract["options"] = rc.NvrtcOptions(defines={"RIGHT": int(right)})
        path = PLANTED / self.file
        kernel = rc.kernel(path, self.name, shapes=shapes, in_out=in_out, **contract)
        return kernel(*self.arguments())

    def arguments(self):
        return Arguments().read(f"[{self._parts()[0]}]")

    def _parts(self):
        return re.split(r" ?\| ", self.call)

    def marked_lines(self):
        lines = (PLANTED / self.file).read_text().splitlines()
        mark = re.compile(rf"// BUG {self.name}$")
        return [number for number, line in enumerate(lines, 1) if mark.search(line)]

    def check(self, text):
        """Looks for what the report must say."""
        assert text.startswith(f"{self.name}: check failed: "), text
        for part in self.says:
            assert part in text
        for line in self.marked_lines():
            assert f"{self.file}:{line}" in text
        if "deadlock" in text:
            first = r"in block \(\d+,\d+,\d+\): .*\(first: \(\d+,"
            assert re.search(first, text), text
        elif "never written" not in text:
            assert PLACE.search(text), text
        if re.search("out of bounds|misaligned|data race|write to|nothing has", text):
            assert re.search(r"byte offset -?\d+", text), text


@functools.cache
def kernels():
    """All planted kernels, in the order of their files."""
    found = []
    for path in sorted(PLANTED.glob("*.cu")):
        text = path.read_text()
        switched = re.search(r"^(?!//).*\bRIGHT\b", text, re.MULTILINE)
        call, says = None, ()
        for note, words, name in NOTE.findall(text):
            words = words.replace("\n//  ", "")
            if note == "CALL":
                call = words
            elif note == "SAYS":
                says = tuple(words.split("; "))
            else:
                kernel = Kernel(path.name, name, call, says, bool(switched))
                found.append(kernel)
                says = ()
    return found


def the(name):
    """The kernel of this name."""
    (found,) = (kernel for kernel in kernels() if kernel.name == name)
    return found


def report(call, *args):
    """What checked mode says about a call, on the CPU."""
    cpu = jax.default_device(jax.devices("cpu")[0])
    with cpu, pytest.raises(rc.CheckError) as caught, rc.checking():
        call(*args)
    return str(caught.value)


def function(file, name):
    return rc.compile_nvrtc(PLANTED / file).function(name)
