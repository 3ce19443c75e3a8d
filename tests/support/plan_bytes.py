"""Writes plans byte by byte, apart from the package's own writer."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

CUBIN, PTX, HOST_PTX = 1, 2, 3
HAS_VARIABLES = 0x80
OPERAND, RESULT = 0, 1
COOPERATIVE, PROGRAMMATIC, AT_ONCE = 1, 2, 4


def u8(value: int) -> bytes:
    return struct.pack("<B", value)


def u32(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def u64(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}Q", *values)


def text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return u32(len(data)) + data


def listed(items: Sequence[bytes]) -> bytes:
    return u32(len(items)) + b"".join(items)


def ref(space: int, index: int, offset: int = 0) -> bytes:
    return u8(space) + u32(index) + u64(offset)


def operand(index: int, offset: int = 0) -> bytes:
    return ref(OPERAND, index, offset)


def result(index: int, offset: int = 0) -> bytes:
    return ref(RESULT, index, offset)


def pointer(place: bytes) -> bytes:
    return u8(0) + place


def dynamic(place: bytes, nbytes: int) -> bytes:
    return u8(2) + place + u32(nbytes)


def start() -> bytes:
    return u8(3)


def scalar(data: bytes) -> bytes:
    return u8(1) + text(data)


def launch(
    function: int,
    arguments: Sequence[bytes],
    grid: tuple[int, int, int] = (1, 1, 1),
    block: tuple[int, int, int] = (1, 1, 1),
    cluster: tuple[int, int, int] = (0, 0, 0),
    shared_mem_bytes: int = 0,
    flags: int = 0,
) -> bytes:
    geometry = u32(*grid, *block, *cluster, shared_mem_bytes, flags)
    return u8(1) + u32(function) + geometry + listed(arguments)


def copy(to: bytes, source: bytes, nbytes: int) -> bytes:
    return u8(2) + to + source + u64(nbytes)


def fill(to: bytes, nbytes: int, width: int, value: int) -> bytes:
    return u8(3) + to + u64(nbytes) + u8(width) + u32(value)


def synchronize() -> bytes:
    return u8(4)


def function(
    name: str, parameters: Sequence[tuple[str, int]], image: int = 0, lowered: str = ""
) -> bytes:
    listing = listed([text(n) + u32(size) for n, size in parameters])
    return u32(image) + text(lowered or name) + text(name) + listing


def values(**variables: bytes) -> bytes:
    """The first values of an image's variables."""
    return listed([text(symbol) + text(data) for symbol, data in variables.items()])


def batch_axis(size: int, *strides: int) -> bytes:
    return u64(size, *strides)


@dataclass(frozen=True)
class Encoded:
    plan: bytes
    images: bytes

    @property
    def attributes(self) -> dict[str, Any]:
        digest = hashlib.sha256(self.plan + self.images).hexdigest()
        return {
            "abi": np.int64(2),
            "plan": self.plan,
            "images": self.images,
            "digest": digest,
        }


def encode(
    commands: Sequence[bytes] = (),
    *,
    name: str = "op",
    operands: Sequence[int] = (),
    results: Sequence[int] = (),
    batch: Sequence[bytes] = (),
    at_once: int = 1,
    own_strides: Sequence[int] | None = None,
    images: Sequence[tuple[int, bytes] | tuple[int, bytes, bytes]] = (),
    functions: Sequence[bytes] = (),
) -> Encoded:
    stored, entries = b"", []
    for kind, *blobs in images:  # the code, and perhaps values of its variables
        entries.append(u8(kind | HAS_VARIABLES * (len(blobs) - 1)))
        for raw in blobs:
            packed = zlib.compress(raw, 1)
            place = u64(len(stored), len(packed), len(raw))
            entries[-1] += hashlib.sha256(raw).digest() + place
            stored += packed
    plan = b"JRC1" + text(name)
    plan += listed([u64(size) for size in operands])
    plan += listed([u64(size) for size in results])
    plan += u32(at_once) + listed(list(batch))
    if batch:  # of results that begin anew with every piece
        plan += listed([u64(stride) for stride in own_strides or [0] * len(results)])
    for section in (entries, functions, commands):
        plan += listed(list(section))
    return Encoded(plan, stored)


def call(
    encoded: Encoded,
    results: jax.ShapeDtypeStruct | Sequence[jax.ShapeDtypeStruct],
    *operands: Any,
    target: str | None = None,
    aliases: dict[int, int] | None = None,
) -> Any:
    """Binds one custom call of the plan."""
    from jax_rawcuda._xla import registration as _registration

    _registration.register()
    bound = jax.ffi.ffi_call(
        target or _registration.TARGET, results, input_output_aliases=aliases
    )
    return bound(*operands, **encoded.attributes)
