"""The bytes of a plan: attributes of the custom call. Read by ffi/plan/plan.cc."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator

import numpy as np

from .._compile.target import Target, default_target
from .._module.code import ModuleImage
from .._module.module import Function
from .._types.dtypes import spell_array
from .commands import (
    BufferRef,
    Copy,
    Fill,
    Launch,
    PointerArgument,
    ScalarArgument,
    Synchronize,
    Verify,
)
from .labels import BufferState
from .plan import Plan
from .tags import (
    LABELS_MAGIC,
    PLAN_MAGIC,
    ArgumentTag,
    CommandTag,
    ImageFlag,
    ImageKind,
    LaunchFlag,
)

ABI = 1


def encode(plan: Plan, platform: str) -> dict[str, object]:
    """Returns the custom call's attributes for a plan.

    Args:
      plan: What to encode.
      platform: `cuda` or `cpu`; the module images are compiled for it.

    Raises:
      CompileError: A module does not compile for the platform.
      UnsupportedError: The platform cannot run a module.
    """
    targets = {f: default_target(platform, f.module.options) for f in plan.functions}
    image_by = {f: image_of(f, target, plan) for f, target in targets.items()}
    images = {_image_key(image): image for image in image_by.values()}
    order = {key: i for i, key in enumerate(images)}
    blobs = _Blobs()

    out = [PLAN_MAGIC, _string(plan.op_name), _sizes(t.nbytes for t in plan.operands)]
    out.append(_sizes([*(t.nbytes for t in plan.results), *_workspaces(plan)]))
    out.append(_batch_axes(plan))
    out.append(_u32(len(images)))
    out += [_image(image, blobs) for image in images.values()]
    out.append(_u32(len(targets)))
    for function, target in targets.items():
        image = order[_image_key(image_by[function])]
        out.append(_function(function, target, image))
    out.append(_u32(len(plan.commands)))
    functions = {f: i for i, f in enumerate(targets)}
    out += [_command(c, functions) for c in plan.commands]
    out.append(label_bytes(plan))

    text, blob = b"".join(out), blobs.data
    return {
        "abi": np.int64(ABI),
        "plan": text,
        "images": blob,
        "digest": hashlib.sha256(text + blob).hexdigest(),
    }


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


def _batch_axes(plan: Plan) -> bytes:
    """Axes outermost first, with the byte stride of every buffer along each."""
    count = len(plan.results)
    spans = [t.nbytes for t in (*plan.operands, *plan.results)]
    rows: list[bytes] = []
    for axis in reversed(plan.batch_axes):
        batched = (*axis.operands, *(True for _ in range(count)))
        strides = [s if b else 0 for s, b in zip(spans, batched, strict=True)]
        spans = [s * axis.size if b else s for s, b in zip(spans, batched, strict=True)]
        strides += [0] * len(plan.workspaces)
        rows.append(struct.pack(f"<{1 + len(strides)}Q", axis.size, *strides))
    return _u32(len(rows)) + b"".join(reversed(rows))


def _function(function: Function, target: Target, image: int) -> bytes:
    parameters = function.signature.parameters
    out = [_u32(image), _string(function.lowered_name(target)), _string(function.name)]
    out.append(_u32(len(parameters)))
    out += [_string(p.name) + _u32(p.size) for p in parameters]
    return b"".join(out)


def _ref(ref: BufferRef) -> bytes:
    return struct.pack("<BIQ", ref.space, ref.index, ref.offset)


def _argument(argument: PointerArgument | ScalarArgument) -> bytes:
    if isinstance(argument, PointerArgument):
        return _tag(ArgumentTag.POINTER) + _ref(argument.ref)
    return _tag(ArgumentTag.SCALAR) + _string(argument.data)


def _command(
    command: Launch | Copy | Fill | Synchronize | Verify, functions: dict[Function, int]
) -> bytes:
    match command:
        case Launch(function, config, arguments):
            geometry = (*config.grid, *config.block, *(config.cluster or (0, 0, 0)))
            flags = LaunchFlag(0)
            if config.cooperative:
                flags |= LaunchFlag.COOPERATIVE
            if config.programmatic:
                flags |= LaunchFlag.PROGRAMMATIC
            words = functions[function], *geometry, config.shared_mem_bytes, flags
            head = _tag(CommandTag.LAUNCH) + struct.pack("<12I", *words)
            body = b"".join(_argument(a) for a in arguments)
            return head + _u32(len(arguments)) + body
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


def image_of(function: Function, target: Target, plan: Plan) -> ModuleImage:
    """Returns the image that a plan runs a kernel from."""
    if plan.labels is None or target.platform != "cpu":
        return function.image(target)
    return _checked_image(function.image(dataclasses.replace(target, checked=True)))


@functools.lru_cache(maxsize=64)
def _checked_image(image: ModuleImage) -> ModuleImage:
    from ..cpu import PRAGMA

    data = PRAGMA.encode() + image.data
    digest = hashlib.sha256(data).digest()
    return dataclasses.replace(image, data=data, digest=digest)


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
