"""The bytes of a plan: attributes of the custom call. Read by ffi/plan/plan.cc."""

from __future__ import annotations

import functools
import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator

import numpy as np

from .._module.code import ModuleImage
from .._module.module import Function
from .._rewrite.adaptation import Adaptation
from .._types.dtypes import spell_array
from .batch import Batch
from .commands import (
    Argument,
    BufferRef,
    Copy,
    DynamicArgument,
    Fill,
    Launch,
    PointerArgument,
    ScalarArgument,
    Space,
    Synchronize,
    Verify,
)
from .labels import BufferState
from .plan import Plan
from .schedule import Schedule, Way
from .tags import (
    LABELS_MAGIC,
    PLAN_MAGIC,
    ArgumentTag,
    CommandTag,
    ImageFlag,
    ImageKind,
    LaunchFlag,
)

ABI = 2
_ADDRESS_BYTES = 8


def encode(plan: Plan, schedule: Schedule) -> dict[str, object]:
    """Returns the custom call's attributes for a plan.

    Args:
      plan: What to encode.
      schedule: How it runs on the platform that it is encoded for.
    """
    images = {_image_key(way.image): way.image for way in schedule.ways}
    order = {key: i for i, key in enumerate(images)}
    kernels = list(dict.fromkeys(map(_kernel_key, schedule.ways)))
    ways = {_kernel_key(way): way for way in schedule.ways}
    blobs = _Blobs()

    out = [PLAN_MAGIC, _string(plan.op_name), _sizes(t.nbytes for t in plan.operands)]
    out.append(_sizes([*(t.nbytes for t in plan.results), *_workspaces(plan)]))
    out.append(_batch(plan, schedule))
    out.append(_u32(len(images)))
    out += [_image(image, blobs) for image in images.values()]
    out.append(_u32(len(kernels)))
    out += [_function(ways[k], order[_image_key(ways[k].image)]) for k in kernels]
    out.append(_u32(len(plan.commands)))
    remaining = iter(schedule.ways)
    for command in plan.commands:
        if isinstance(command, Launch):
            way = next(remaining)
            index = kernels.index(_kernel_key(way))
            out.append(_launch(command, way, index, schedule.batch, len(plan.operands)))
        else:
            out.append(_command(command))
    out.append(label_bytes(plan))

    text, blob = b"".join(out), blobs.data
    return {
        "abi": np.int64(ABI),
        "plan": text,
        "images": blob,
        "digest": hashlib.sha256(text + blob).hexdigest(),
    }


def _kernel_key(way: Way) -> tuple[Function, Adaptation]:
    return way.function, way.adaptation


class _Blobs:
    """The attribute `images`: compressed bytes, each once."""

    def __init__(self) -> None:
        self.data = b""
        self._places: dict[bytes, bytes] = {}

    def add(self, raw: bytes, digest: bytes) -> bytes:
        """Returns the record that says where `raw` is."""
        if digest not in self._places:
            stored = _deflate(raw)
            place = struct.pack("<QQQ", len(self.data), len(stored), len(raw))
            self._places[digest] = digest + place
            self.data += stored
        return self._places[digest]


def _image_key(image: ModuleImage) -> tuple[bytes, tuple[tuple[str, bytes], ...]]:
    return image.digest, image.variables


def _image(image: ModuleImage, blobs: _Blobs) -> bytes:
    kind = ImageKind[image.kind.upper()]
    if not image.variables:
        return _tag(kind) + blobs.add(image.data, image.digest)
    pairs = [_string(symbol) + _string(data) for symbol, data in image.variables]
    values = _u32(len(pairs)) + b"".join(pairs)
    record = blobs.add(values, hashlib.sha256(values).digest())
    head = _tag(kind | ImageFlag.HAS_VARIABLES)
    return head + blobs.add(image.data, image.digest) + record


@functools.lru_cache(maxsize=64)
def _deflate(data: bytes) -> bytes:
    # Level 1: XLA spends 60 to 90 ms per MB of attribute text, so size matters more
    # than the last percent of compression.
    return zlib.compress(data, 1)


def _tag(tag: int) -> bytes:
    return struct.pack("<B", tag)


def _u32(value: int) -> bytes:
    return struct.pack("<I", value)


def _string(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _u32(len(data)) + data


def _sizes(values: Iterable[int]) -> bytes:
    sizes = list(values)
    return _u32(len(sizes)) + struct.pack(f"<{len(sizes)}Q", *sizes)


def _workspaces(plan: Plan) -> list[int]:
    """Sizes, with the exponent of the alignment in the highest byte."""
    alignments = plan.alignments or (1,) * len(plan.workspaces)
    return [
        nbytes | (align.bit_length() - 1) << 56
        for nbytes, align in zip(plan.workspaces, alignments, strict=True)
    ]


def _batch(plan: Plan, schedule: Schedule) -> bytes:
    """Elements of a piece; axes, outermost first, with the byte stride of every buffer.

    What follows of each result is the stride that begins anew with every piece.
    """
    axes = schedule.batch.axes
    out = [_u32(schedule.at_once), _u32(len(axes))]
    out += [struct.pack(f"<{1 + len(a.strides)}Q", a.size, *a.strides) for a in axes]
    if axes:
        own = axes[-1].strides[len(plan.operands) + len(plan.results) :]
        out.append(_sizes([*(0 for _ in plan.results), *own]))
    return b"".join(out)


def _function(way: Way, image: int) -> bytes:
    sizes = [(p.name, p.size) for p in way.function.signature.parameters]
    for index in way.adaptation.dynamic:
        sizes[index] = sizes[index][0], _ADDRESS_BYTES
    sizes += [("batch", _ADDRESS_BYTES)] * way.adaptation.appended_count
    out = [_u32(image), _string(way.lowered_name), _string(way.function.name)]
    out.append(_u32(len(sizes)))
    out += [_string(name) + _u32(size) for name, size in sizes]
    return b"".join(out)


def _ref(ref: BufferRef) -> bytes:
    return struct.pack("<BIQ", ref.space, ref.index, ref.offset)


def _argument(argument: Argument, changed: bool) -> bytes:
    match argument:
        case PointerArgument(ref):
            return _tag(ArgumentTag.POINTER) + _ref(ref)
        case ScalarArgument(_, data):
            return _tag(ArgumentTag.SCALAR) + _string(data)
        case DynamicArgument(_, size, ref):
            # A changed kernel takes the address; else the handler reads the value.
            if changed:
                return _tag(ArgumentTag.POINTER) + _ref(ref)
            return _tag(ArgumentTag.DYNAMIC) + _ref(ref) + _u32(size)


def _appended(launch: Launch, way: Way, batch: Batch, operands: int) -> list[bytes]:
    """The arguments that a changed entry takes in addition."""
    strides = {}
    for index in way.adaptation.batched:
        argument = launch.arguments[index]
        if isinstance(argument, PointerArgument | DynamicArgument):
            result = argument.ref.space is Space.RESULT
            strides[index] = batch.strides(argument.ref.index + operands * result)
    values = way.adaptation.appended(0, batch.sizes, strides)
    if not values:
        return []
    rest = [struct.pack("<Q", value) for value in values[1:]]
    return [
        _tag(ArgumentTag.START),
        *(_tag(ArgumentTag.SCALAR) + _string(data) for data in rest),
    ]


def _launch(
    launch: Launch, way: Way, function: int, batch: Batch, operands: int
) -> bytes:
    config = launch.config
    geometry = (*config.grid, *config.block, *(config.cluster or (0, 0, 0)))
    flags = LaunchFlag(0)
    if config.cooperative:
        flags |= LaunchFlag.COOPERATIVE
    if way.programmatic:
        flags |= LaunchFlag.PROGRAMMATIC
    if way.at_once:
        flags |= LaunchFlag.AT_ONCE
    words = function, *geometry, config.shared_mem_bytes, flags
    head = _tag(CommandTag.LAUNCH) + struct.pack("<12I", *words)
    changed = bool(way.adaptation.dynamic)
    arguments = [_argument(a, changed) for a in launch.arguments]
    arguments += _appended(launch, way, batch, operands)
    return head + _u32(len(arguments)) + b"".join(arguments)


def _command(command: Copy | Fill | Synchronize | Verify) -> bytes:
    match command:
        case Copy(destination, source, nbytes):
            places = _ref(destination) + _ref(source)
            return _tag(CommandTag.COPY) + places + struct.pack("<Q", nbytes)
        case Fill(destination, nbytes, width, value):
            values = struct.pack("<QBI", nbytes, width, value)
            return _tag(CommandTag.FILL) + _ref(destination) + values
        case Verify(begin, nbytes, guard, what):
            sizes = struct.pack("<QQ", nbytes, guard)
            return _tag(CommandTag.VERIFY) + _ref(begin) + sizes + _string(what)
        case Synchronize():
            return _tag(CommandTag.SYNCHRONIZE)


def label_bytes(plan: Plan) -> bytes:
    """Describes the buffers of a checked plan; read by ffi/plan/labels.cc."""
    return b"".join(_labels(plan))


def _labels(plan: Plan) -> Iterator[bytes]:
    labels = plan.labels
    if labels is None:
        return
    yield LABELS_MAGIC
    for name, array in zip(labels.operands, plan.operands, strict=True):
        state = BufferState.INITIALIZED
        yield _label(name, spell_array(array), array.dtype.itemsize, state)
    shared = {result for _, result in plan.aliases}
    visible = len(plan.results)
    for index, name in enumerate(labels.results):
        if index >= visible:
            size = plan.workspaces[index - visible]
            yield _label(name, f"{size} bytes", 1, 0)
            continue
        array = plan.results[index]
        if labels.states:
            state = labels.states[index]
        elif index in shared:
            state = BufferState.VISIBLE | BufferState.INITIALIZED
        else:
            state = BufferState.VISIBLE
        yield _label(name, spell_array(array), array.dtype.itemsize, state)


def _label(name: str, kind: str, item_bytes: int, state: int) -> bytes:
    texts = b"".join(
        struct.pack("<I", len(data)) + data for data in (name.encode(), kind.encode())
    )
    return texts + struct.pack("<IB", item_bytes, state)
