"""Operand values as bits: special ones of each type, and random ones from a seed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import ml_dtypes
import numpy as np

RANDOM = 2048  # random rows per operation, after the special ones


@dataclass(frozen=True)
class Type:
    """A type of an operand or a result.

    Attributes:
      c: Its name in CUDA C++.
      dtype: Of an array of it.
      lanes: Values of `dtype` in one value of the type.
      values: `int`, or the float format (exponent bits, fraction bits) whose special
        values are worth trying.
      constraint: Of inline PTX.
    """

    c: str
    dtype: np.dtype
    lanes: int = 1
    values: str | tuple[int, int] = "int"
    constraint: str = ""

    @property
    def width(self) -> int:
        """Bits of one lane."""
        return 8 * self.dtype.itemsize


_F16, _BF16, _F32, _F64 = (5, 10), (8, 7), (8, 23), (11, 52)


def _integers() -> dict[str, Type]:
    names = {8: "char", 16: "short", 32: "int", 64: "long long"}
    letters = {8: "", 16: "h", 32: "r", 64: "l"}
    found = {}
    for bits, c in names.items():
        for sign, word in (("s", "signed "), ("u", "unsigned ")):
            dtype = np.dtype(f"{'u' if sign == 'u' else ''}int{bits}")
            found[f"{sign}{bits}"] = Type(word + c, dtype, constraint=letters[bits])
    return found


_HALF, _BFLOAT = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)
_U16, _U32 = np.dtype(np.uint16), np.dtype(np.uint32)
TYPES = {
    **_integers(),
    "f32": Type("float", np.dtype(np.float32), 1, _F32, "f"),
    "f64": Type("double", np.dtype(np.float64), 1, _F64, "d"),
    "f16": Type("__half", _HALF, 1, _F16),
    "bf16": Type("__nv_bfloat16", _BFLOAT, 1, _BF16),
    "f16x2": Type("__half2", _HALF, 2, _F16),
    "bf16x2": Type("__nv_bfloat162", _BFLOAT, 2, _BF16),
    # Bits of halves, as inline PTX takes them.
    "hf16": Type("unsigned short", _U16, 1, _F16, "h"),
    "hbf16": Type("unsigned short", _U16, 1, _BF16, "h"),
    "hf16x2": Type("unsigned int", _U32, 1, _F16, "r"),
    "hbf16x2": Type("unsigned int", _U32, 1, _BF16, "r"),
}


def splitmix(seed: int, count: int) -> np.ndarray:
    """Returns u64[count] of random bits; the same with every version of NumPy."""
    with np.errstate(over="ignore"):
        x = np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
        x = x + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        return x ^ x >> np.uint64(31)


def _special_floats(form: tuple[int, int], detail: int) -> list[int]:
    exponent, fraction = form
    sign, one = 1 << exponent + fraction, ((1 << exponent - 1) - 1) << fraction
    infinity = ((1 << exponent) - 1) << fraction
    half = quiet = 1 << fraction - 1
    sizes = [0, 1, one, infinity - 1, infinity, infinity | quiet | 5]
    if detail <= 2:
        lowest = 1 << fraction
        sizes += [one + 1, lowest - 1, lowest, one + half, infinity | 3]
    if detail <= 1:
        sizes += [lowest // 3, lowest + 1, one - 1, one - lowest, one + lowest + half]
        # Around the ends of the integer types, and where every number is odd.
        for power in (7, 8, 15, 16, 31, 32, 63, 64, fraction, fraction + 1):
            if power < 1 << exponent - 1:
                edge = one + (power << fraction)
                sizes += [edge - 1, edge, edge + 1]
        sizes += [infinity | quiet, sign - 1]
    return [bits for size in sizes for bits in (size, sign | size)]


def _special_integers(width: int, detail: int) -> list[int]:
    top, mask = 1 << width - 1, (1 << width) - 1
    found = [0, 1, mask, top, top - 1, 5, 31, 32, mask // 3]
    if detail <= 2:
        found += [2, mask - 1, top + 1, mask - mask // 3, width, width + 1, 255]
        found += [1 << width // 2, (1 << width // 2) - 1, 0x1234567 & mask]
    if detail <= 1:
        found += [1 << bit for bit in range(width)] + [7, 24, 33, 63, 64, 65]
    return [value & mask for value in found]


def special_words(type_: Type, detail: int) -> list[int]:
    """Returns the bits of special values of one lane; few for a `detail` of 3."""
    if isinstance(type_.values, str):
        return list(dict.fromkeys(_special_integers(type_.width, detail)))
    return _special_floats(type_.values, detail)


def _random_words(type_: Type, count: int, seed: int) -> np.ndarray:
    """Returns u64[count]: random bits, half of them with a tamed exponent or size."""
    words = splitmix(seed, count)
    kind = np.arange(count, dtype=np.uint64) % np.uint64(4)
    if isinstance(type_.values, str):
        width = np.uint64(type_.width)
        words &= np.uint64((1 << type_.width) - 1)
        shift = splitmix(seed + 1, count) % width
        return np.where(kind < 2, words, words >> shift)
    exponent, fraction = type_.values
    biased = words >> np.uint64(fraction) & np.uint64((1 << exponent) - 1)
    bias = np.uint64((1 << exponent - 1) - 1)
    near = bias - np.uint64(8) + biased % np.uint64(16)
    low = biased % np.uint64(max(4, fraction // 4))
    tamed = np.select([kind == 1, kind == 2], [near, low], biased)
    keep = np.uint64((1 << fraction) - 1 | 1 << exponent + fraction)
    return words & keep | tamed << np.uint64(fraction)


def _lane(type_: Type, special: list[int], seed: int) -> np.ndarray:
    width = type_.width if isinstance(type_.values, str) else 1 + sum(type_.values)
    random = _random_words(type_, RANDOM, seed)
    words = np.concatenate([np.array(special, np.uint64), random])
    return words & np.uint64((1 << width) - 1)


def operands(names: tuple[str, ...]) -> tuple[list[np.ndarray], int]:
    """Makes the operands of an operation.

    Args:
      names: Types of the operands.

    Returns:
      An array per operand, of all combinations of special values and then `RANDOM`
      random rows, and the number of the special rows.
    """
    types = [TYPES[name] for name in names]
    tables = [special_words(type_, len(types)) for type_ in types]
    rows = list(itertools.product(*tables))
    arrays = []
    for index, type_ in enumerate(types):
        column = [row[index] for row in rows]
        # Packed values: the second lane holds the rows in another order.
        lanes = [column, column[::-1]]
        packed = type_.lanes == 2 or type_.dtype.itemsize * 8 > _bits(type_)
        words = [
            _lane(type_, lane, 16 * index + 64 * n)
            for n, lane in enumerate(lanes[: 2 if packed else 1])
        ]
        arrays.append(_array(type_, words))
    return arrays, len(rows)


def _bits(type_: Type) -> int:
    return type_.width if isinstance(type_.values, str) else 1 + sum(type_.values)


def _array(type_: Type, words: list[np.ndarray]) -> np.ndarray:
    if len(words) == 2 and type_.lanes == 1:
        words = [words[0] | words[1] << np.uint64(16)]
    unsigned = np.dtype(f"u{type_.dtype.itemsize}")
    return np.stack(words, axis=-1).astype(unsigned).view(type_.dtype).reshape(-1)
