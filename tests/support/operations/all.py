"""The table of operations, and kernels that compute them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jax
import numpy as np
from support.operations.floats import FLOAT_OPERATIONS
from support.operations.halves import HALF_OPERATIONS
from support.operations.integers import INTEGER_OPERATIONS
from support.operations.operation import Operation
from support.operations.ptx import PTX_OPERATIONS
from support.words import RANDOM as RANDOM
from support.words import TYPES, operands

import jax_rawcuda as rc

OPERATIONS = [
    *FLOAT_OPERATIONS, *HALF_OPERATIONS, *INTEGER_OPERATIONS, *PTX_OPERATIONS
]  # fmt: skip
SIGNS = {
    "neg",
    "abs",
    *(f"ptx {op}{ftz}.f32" for op in ("neg", "abs") for ftz in ("", ".ftz")),
}
_PER_KERNEL = 16
_CHUNK = 256  # random rows per checksum


@dataclass(frozen=True)
class Group:
    """Operations of the same operands, computed by one kernel."""

    operands: tuple[str, ...]
    operations: tuple[Operation, ...]

    def source(self) -> str:
        """Returns CUDA C++: a device function per operation, and kernel `group`."""
        letters = "abc"[: len(self.operands)]
        types = [TYPES[name].c for name in self.operands]
        arguments = ", ".join(f"{t} {x}" for t, x in zip(types, letters, strict=True))
        functions = [
            f"__device__ {TYPES[o.result].c} f{k}({arguments}) {{ {o.body} }}"
            for k, o in enumerate(self.operations)
        ]
        sources = [f"const {t}* p{x}" for t, x in zip(types, letters, strict=True)]
        results = [f"{TYPES[o.result].c}* r{k}" for k, o in enumerate(self.operations)]
        loads = [f"{t} {x} = p{x}[i];" for t, x in zip(types, letters, strict=True)]
        stores = [f"r{k}[i] = f{k}({', '.join(letters)});" for k in range(len(results))]
        return "\n".join(
            [
                "#include <climits>",
                "#include <cuda_fp16.h>",
                "#include <cuda_bf16.h>",
                *functions,
                f"__global__ void group({', '.join(sources + results)}, int n) {{",
                "  int i = blockIdx.x * blockDim.x + threadIdx.x;",
                f"  if (i < n) {{ {' '.join(loads)}",
                *(f"    {store}" for store in stores),
                "  }\n}",
            ]
        )

    def module(self) -> rc.Module:
        """Compiles the kernel."""
        return rc.compile_nvrtc(self.source())

    def run(self) -> tuple[list[np.ndarray], int]:
        """Returns the bits of all results, and the number of special rows."""
        arrays, special = operands(self.operands)
        rows = len(arrays[0]) // TYPES[self.operands[0]].lanes
        with jax.enable_x64(True):
            kernel = rc.kernel(
                self.module(),
                "group",
                out=[
                    jax.ShapeDtypeStruct((rows * t.lanes,), t.dtype)
                    for t in (TYPES[o.result] for o in self.operations)
                ],
                launch=rc.LaunchConfig.flat(rows, 256),
            )
            results = kernel(*arrays, rows)
        if len(self.operations) == 1:
            results = [results]
        pairs = zip(self.operations, results, strict=True)
        return [comparable(o, words(np.asarray(r), rows)) for o, r in pairs], special


def words(values: np.ndarray, rows: int) -> np.ndarray:
    """Returns the bits of values as unsigned words, one a row."""
    return values.view(f"u{values.nbytes // rows}")


def comparable(operation: Operation, bits: np.ndarray) -> np.ndarray:
    """Returns the bits of results, with one NaN where f64 or only a sign is involved.

    The device hands the bits of a NaN in f64 on; of two NaNs, those that its assembler
    has put first. For the sign of an f32 see jax_rawcuda/cpu/nans.py.
    """
    result = TYPES[operation.result]
    is_sign = operation.name.split(" (")[0] in SIGNS and operation.result == "f32"
    wide = "f64" in (operation.result, *operation.operands)
    if result.values == "int" or not (wide or is_sign):
        return bits
    exponent, fraction = result.values
    infinity = bits.dtype.type(((1 << exponent) - 1) << fraction)
    size = bits & bits.dtype.type((1 << exponent + fraction) - 1)
    nan = bits.dtype.type(0x7FFFFFFF) if is_sign else ~bits.dtype.type(0)
    return np.where(size > infinity, nan, bits)


def groups() -> list[Group]:
    """Returns all operations, by their operands, in a fixed order."""
    by_operands: dict[tuple[str, ...], list[Operation]] = {}
    for operation in OPERATIONS:
        by_operands.setdefault(operation.operands, []).append(operation)
    return [
        Group(types, part)
        for types, found in by_operands.items()
        for part in _parts(found)
    ]


def _parts(operations: list[Operation]) -> Iterator[tuple[Operation, ...]]:
    for start in range(0, len(operations), _PER_KERNEL):
        yield tuple(operations[start : start + _PER_KERNEL])


def checksums(bits: np.ndarray) -> list[int]:
    """Returns a CRC-32 per chunk of random rows."""
    starts = range(0, len(bits), _CHUNK)
    return [zlib.crc32(bits[s : s + _CHUNK].tobytes()) for s in starts]


def save(path: Path, results: dict[str, tuple[np.ndarray, int]]) -> None:
    """Writes results by operation: all bits of special rows, checksums of the others.

    Args:
      path: Of the file.
      results: Bits of all rows, and the number of special rows.
    """
    special = [bits[:count].view(np.uint8) for bits, count in results.values()]
    random = [checksums(bits[count:]) for bits, count in results.values()]
    np.savez_compressed(
        path,
        names=np.frombuffer("\n".join(results).encode(), np.uint8),
        special=np.concatenate(special),
        checksums=np.array(random, np.uint32),
    )


def load(path: Path) -> dict[str, tuple[np.ndarray, list[int]]]:
    """Reads what `save` wrote: bytes of the special rows, and checksums."""
    with np.load(path) as file:
        names = file["names"].tobytes().decode().split("\n")
        special, sums = file["special"], file["checksums"]
    by_name = {operation.name: operation for operation in OPERATIONS}
    found, start = {}, 0
    for name, row in zip(names, sums.tolist(), strict=True):
        operation = by_name[name]
        _, count = operands(operation.operands)
        result = TYPES[operation.result]
        end = start + count * result.lanes * result.dtype.itemsize
        found[name] = special[start:end], row
        start = end
    return found
