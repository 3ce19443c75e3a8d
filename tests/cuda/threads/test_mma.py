"""mma.sync in every shape and type, with the fragment layouts of the PTX manual."""

from __future__ import annotations

import dataclasses

import ml_dtypes
import numpy as np
import pytest
from support.launching import launch

LANES = np.arange(32)
GROUP, MEMBER = LANES // 4, LANES % 4
FLOATS = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "tf32": np.float32,
    "f32": np.float32,
    "f64": np.float64,
}
WIDTHS = {"s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32}


@dataclasses.dataclass(frozen=True)
class Shape:
    """One mma.sync: m, n, k and the types of A, B and of C and D."""

    m: int
    n: int
    k: int
    a: str
    b: str
    c: str
    words: str = ""

    def __str__(self):
        name = f"m{self.m}n{self.n}k{self.k}.{self.c}.{self.a}.{self.b}"
        return name + self.words

    @property
    def instruction(self):
        shape = f"m{self.m}n{self.n}k{self.k}"
        types = f"{self.c}.{self.a}.{self.b}.{self.c}"
        return f"mma.sync.aligned.{shape}.row.col{self.words}.{types}"

    @property
    def instruction_text(self):
        if self.a != "b1":
            return self.instruction
        operation = self.words
        return self.instruction.replace(operation, "") + f"{operation}.popc"


def width(kind):
    return WIDTHS.get(kind) or 8 * np.dtype(FLOATS[kind]).itemsize


def pack(kind):
    return max(32 // width(kind), 1)


def places(rows, columns, kind, transposed=False):
    """Row and column of every lane's elements, as arrays [lane, element]."""
    if transposed:
        column, row = places(columns, rows, kind)
        return row, column
    each = pack(kind)
    halves = rows // 8
    i = np.arange(rows * columns // 32)
    word, low = i // each, i % each
    row = GROUP[:, None] + 8 * (word % halves)
    column = MEMBER[:, None] * each + low + word // halves * 4 * each
    return row, column


def accumulator_places(rows):
    i = np.arange(rows // 4)
    row = GROUP[:, None] + 8 * (i // 2)
    return row, MEMBER[:, None] * 2 + i % 2


def bits(values, kind):
    """Elements as unsigned integers of their width."""
    if kind in FLOATS:
        values = np.ascontiguousarray(values.astype(FLOATS[kind]))
        return values.view(f"u{values.dtype.itemsize}").astype(np.uint64)
    mask = np.uint64((1 << width(kind)) - 1)
    return values.astype(np.int64).view(np.uint64) & mask


def registers(matrix, place, kind):
    """A lane's registers as words [lane, register]."""
    elements = bits(matrix[place], kind)
    each = pack(kind)
    shifts = np.arange(each, dtype=np.uint64) * np.uint64(width(kind))
    words = (elements.reshape(32, -1, each) << shifts).sum(-1, dtype=np.uint64)
    return words.astype(np.uint64 if kind == "f64" else np.uint32)


def kernel(shape, counts):
    """Source of a kernel with one instruction in it."""
    letters = {"f64": ("d", "double"), "f32": ("f", "float")}
    lines, operands, index = [], {}, 0
    for name, kind in zip("dabc", (shape.c, shape.a, shape.b, shape.c), strict=True):
        letter, c_type = letters.get(kind, ("r", "unsigned"))
        count = counts[name]
        lines.append(f"  {c_type} {name}_[{count}];")
        if name != "d":
            lines.append(
                f"  for (int i = 0; i < {count}; ++i) "
                f"{name}_[i] = {name}[threadIdx.x * {count} + i];"
            )
        numbers = ", ".join(f"%{index + i}" for i in range(count))
        index += count
        sign = "=" if name == "d" else ""
        listed = ", ".join(f'"{sign}{letter}"({name}_[{i}])' for i in range(count))
        operands[name] = (f"{{{numbers}}}", listed, c_type)
    text = ", ".join(numbers for numbers, _, _ in operands.values())
    inputs = ", ".join(operands[name][1] for name in "abc")
    lines.append(
        f'  asm volatile("{shape.instruction_text} {text};" '
        f": {operands['d'][1]} : {inputs});"
    )
    lines.append(
        f"  for (int i = 0; i < {counts['d']}; ++i) "
        f"d[threadIdx.x * {counts['d']} + i] = d_[i];"
    )
    types = {name: c_type for name, (_, _, c_type) in operands.items()}
    parameters = ", ".join(f"const {types[n]}* {n}" for n in "abc")
    body = "\n".join(lines)
    return (
        f'extern "C" __global__ void product({parameters}, {types["d"]}* d) '
        f"{{\n{body}\n}}"
    )


SHAPES = [
    *(Shape(16, 8, k, t, t, "f32") for t in ("f16", "bf16") for k in (8, 16)),
    *(Shape(16, 8, k, "f16", "f16", "f16") for k in (8, 16)),
    *(Shape(16, 8, k, "tf32", "tf32", "f32") for k in (4, 8)),
    Shape(8, 8, 4, "f64", "f64", "f64"),
    *(Shape(16, 8, k, "f64", "f64", "f64") for k in (4, 8, 16)),
    Shape(8, 8, 16, "s8", "s8", "s32"),
    Shape(16, 8, 16, "s8", "u8", "s32"),
    Shape(16, 8, 32, "u8", "s8", "s32"),
    Shape(16, 8, 32, "s8", "s8", "s32", ".satfinite"),
    Shape(8, 8, 32, "s4", "s4", "s32"),
    Shape(16, 8, 32, "u4", "s4", "s32"),
    Shape(16, 8, 64, "s4", "u4", "s32"),
    Shape(8, 8, 128, "b1", "b1", "s32", ".xor"),
    Shape(16, 8, 256, "b1", "b1", "s32", ".and"),
    Shape(16, 8, 32, "e4m3", "e5m2", "f32"),
    Shape(16, 8, 32, "e5m2", "e4m3", "f32"),
]


def random_matrix(rng, kind, shape):
    if kind in FLOATS:
        values = rng.standard_normal(shape)
        if kind == "tf32":  # nothing below what the device looks at
            words = values.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
            return words.view(np.float32)
        return values.astype(FLOATS[kind])
    low = -(1 << width(kind) - 1) if kind.startswith("s") else 0
    return rng.integers(low, low + (1 << width(kind)), shape)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_product(device, rng, shape):
    a = random_matrix(rng, shape.a, (shape.m, shape.k))
    b = random_matrix(rng, shape.b, (shape.k, shape.n))
    if shape.c == "s32":
        c = rng.integers(-1000, 1000, (shape.m, shape.n))
        if shape.words == ".satfinite":
            c += np.int64(2**31 - 500)  # some sums go over the largest integer
            c = np.minimum(c, 2**31 - 1)
    else:
        c = rng.standard_normal((shape.m, shape.n)).astype(FLOATS[shape.c])
    place_a = places(shape.m, shape.k, shape.a)
    place_b = places(shape.k, shape.n, shape.b, transposed=True)
    place_c = accumulator_places(shape.m)
    words = {
        "a": registers(a, place_a, shape.a),
        "b": registers(b, place_b, shape.b),
        "c": registers(c, place_c, shape.c),
    }
    counts = {name: each.shape[1] for name, each in words.items()}
    counts["d"] = counts["c"]
    c_type = {"f64": np.float64, "f32": np.float32}.get(shape.c, np.uint32)
    if shape.c in ("f32", "f64"):
        words["c"] = words["c"].view(c_type)
    if shape.a == "f64":
        words["a"], words["b"] = (words[n].view(np.float64) for n in "ab")
    got = launch(
        device,
        kernel(shape, counts),
        "product",
        *(words[name].ravel() for name in "abc"),
        out=[(words["c"].size, np.dtype(c_type))],
    )
    element = FLOATS.get(shape.c, np.int32)
    found = np.empty((shape.m, shape.n), element)
    found[place_c] = got.view(element).reshape(32, -1)
    if shape.a == "b1":
        both = (a[:, :, None] & b) if shape.words == ".and" else (a[:, :, None] ^ b)
        want = both.sum(1) + c
    else:
        want = a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)
    if shape.c == "s32":
        want = np.clip(want, -(2**31), 2**31 - 1) if shape.words else want
        np.testing.assert_array_equal(found, want.astype(np.int64))
        return
    tolerance = {"f16": 2e-2, "f32": 1e-5, "f64": 1e-13}[shape.c]
    if shape.a.startswith("e"):  # the device sums fp8 products in fewer bits
        tolerance = 1e-2
    largest = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)) + 1
    error = np.abs(found.astype(np.float64) - want) / largest
    assert error.max() < tolerance
