"""Errors of the math functions, in units of the last place, beside CUDA's bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np
from support.words import splitmix

import jax_rawcuda as rc

COUNT = 4096


@dataclass(frozen=True)
class Function:
    """A function of one or two arguments.

    Attributes:
      bound: The greatest error that the CUDA programming guide states: in ulp, and from
        the correctly rounded result.
      low, high: The range of the arguments.
      reference: The same function with more digits.
    """

    name: str
    bound: float
    low: float
    high: float
    reference: Callable[..., np.ndarray]
    arguments: int = 1


def _erf(x: np.ndarray) -> np.ndarray:
    return np.array([math.erf(v) for v in x.astype(float)])


def _erfc(x: np.ndarray) -> np.ndarray:
    return np.array([math.erfc(v) for v in x.astype(float)])


def _lgamma(x: np.ndarray) -> np.ndarray:
    return np.array([math.lgamma(v) for v in x.astype(float)])


def _tgamma(x: np.ndarray) -> np.ndarray:
    return np.array([math.gamma(v) for v in x.astype(float)])


# Bounds: CUDA C++ Programming Guide, mathematical functions, single and double. They
# come from tests that were not exhaustive, it says; expf reaches 2 on an H200.
_BOTH = (
    ("exp", 2, 1, -85, 85, np.exp),
    ("exp2", 2, 1, -120, 120, np.exp2),
    ("exp10", 2, 1, -36, 36, lambda x: np.power(x.dtype.type(10), x)),
    ("expm1", 1, 1, -20, 80, np.expm1),
    ("log", 1, 1, 1e-30, 1e30, np.log),
    ("log2", 1, 1, 1e-30, 1e30, np.log2),
    ("log10", 2, 1, 1e-30, 1e30, np.log10),
    ("log1p", 1, 1, -0.999, 1e20, np.log1p),
    ("sin", 2, 2, -100, 100, np.sin),
    ("cos", 2, 2, -100, 100, np.cos),
    ("tan", 4, 2, -100, 100, np.tan),
    ("asin", 2, 2, -1, 1, np.arcsin),
    ("acos", 2, 2, -1, 1, np.arccos),
    ("atan", 2, 2, -1e6, 1e6, np.arctan),
    ("sinh", 3, 2, -80, 80, np.sinh),
    ("cosh", 2, 1, -80, 80, np.cosh),
    ("tanh", 2, 2, -10, 10, np.tanh),
    ("asinh", 3, 3, -1e10, 1e10, np.arcsinh),
    ("acosh", 4, 3, 1, 1e10, np.arccosh),
    ("atanh", 3, 2, -1, 1, np.arctanh),
    ("cbrt", 1, 1, -1e30, 1e30, np.cbrt),
    ("rsqrt", 2, 1, 1e-30, 1e30, lambda x: 1 / np.sqrt(x)),
)
_SINGLE = (
    ("erf", 2, -4, 4, _erf),
    ("erfc", 4, -4, 9, _erfc),
    ("lgamma", 6, 3, 1e10, _lgamma),
    ("tgamma", 5, 0.01, 34, _tgamma),
    ("atan2", 3, -100, 100, np.arctan2, 2),
    ("hypot", 3, -1e10, 1e10, np.hypot, 2),
    ("pow", 4, 1e-4, 25, np.power, 2),
)
_DOUBLE = (
    ("atan2", 2, -100, 100, np.arctan2, 2),
    ("hypot", 2, -1e100, 1e100, np.hypot, 2),
    ("pow", 2, 1e-4, 30, np.power, 2),
)
SINGLE = [
    *(Function(f"{n}f", b, low, high, r) for n, b, _, low, high, r in _BOTH),
    *(Function(f"{row[0]}f", *row[1:]) for row in _SINGLE),
]
DOUBLE = [
    *(Function(n, b, low, high, r) for n, _, b, low, high, r in _BOTH),
    *(Function(*row) for row in _DOUBLE),
]


def arguments(function: Function, dtype: np.dtype) -> list[np.ndarray]:
    """Returns COUNT values: evenly spread, and with evenly spread exponents."""
    found = []
    for index in range(function.arguments):
        words = splitmix(100 + index, COUNT)
        unit = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
        even = function.low + (function.high - function.low) * unit
        small = np.exp2(-30 * unit[::-1]) * even
        inside = (small >= function.low) & (small <= function.high)
        mixed = np.where((words & np.uint64(1)).astype(bool) & inside, small, even)
        clipped = np.clip(
            mixed.astype(dtype), dtype.type(function.low), dtype.type(function.high)
        )
        found.append(clipped)
    return found


def evaluate(functions: list[Function], dtype: np.dtype) -> list[np.ndarray]:
    """Runs all functions of one precision with one kernel."""
    c = "float" if dtype == np.float32 else "double"
    lists = [arguments(function, dtype) for function in functions]
    pointers, calls, outputs = [], [], []
    for k, function in enumerate(functions):
        names = [f"x{k}_{n}" for n in range(function.arguments)]
        pointers += [f"const {c}* {name}" for name in names]
        outputs.append(f"{c}* r{k}")
        values = ", ".join(f"{name}[i]" for name in names)
        calls.append(f"  r{k}[i] = {function.name}({values});")
    head = f"__global__ void math({', '.join(pointers + outputs)}) {{"
    body = "  int i = blockIdx.x * blockDim.x + threadIdx.x;"
    with jax.enable_x64(True):
        kernel = rc.kernel(
            "\n".join([head, body, *calls, "}"]),
            "math",
            out=[jax.ShapeDtypeStruct((COUNT,), dtype)] * len(functions),
            launch=rc.LaunchConfig(grid=COUNT // 256, block=256),
        )
        results = kernel(*(array for arrays in lists for array in arrays))
    return [np.asarray(result) for result in results]


def measure() -> dict[str, int]:
    """Returns how far each function went from the correctly rounded result, in ulp."""
    errors = {}
    for functions, dtype, wide in (
        (SINGLE, np.dtype(np.float32), np.float64),
        (DOUBLE, np.dtype(np.float64), np.longdouble),
    ):
        for function, got in zip(functions, evaluate(functions, dtype), strict=True):
            inputs = [a.astype(wide) for a in arguments(function, dtype)]
            want = function.reference(*inputs).astype(dtype)
            finite = np.isfinite(want)
            steps = _places(got[finite]) - _places(want[finite])
            errors[function.name] = int(np.abs(steps).max())
    return errors


def _places(x: np.ndarray) -> np.ndarray:
    """Returns where the values stand among all of their type; zeros stand at 0."""
    bits = x.view(f"i{x.itemsize}").astype(np.int64)
    return np.where(bits < 0, np.iinfo(f"i{x.itemsize}").min - bits, bits)
