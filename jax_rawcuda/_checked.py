"""What the plan of checked kernels has besides their launches."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import struct
from collections.abc import Iterator

from ._checking import BufferState
from ._dtypes import spell_array
from ._module import Function, ModuleImage, Target
from ._plan import Plan

_MAGIC = b"CHK1"


def image_of(function: Function, target: Target, plan: Plan) -> ModuleImage:
    """Returns the image that a plan runs a kernel from."""
    if plan.labels is None or target.platform != "cpu":
        return function.image(target)
    return _checked_image(function.image(dataclasses.replace(target, checked=True)))


@functools.lru_cache(maxsize=64)
def _checked_image(image: ModuleImage) -> ModuleImage:
    from .cpu.checks import PRAGMA

    data = PRAGMA.encode() + image.data
    digest = hashlib.sha256(data).digest()
    return dataclasses.replace(image, data=data, digest=digest)


def label_bytes(plan: Plan) -> bytes:
    """Describes the buffers of a checked plan; read by ffi/plan_labels.cc."""
    return b"".join(_labels(plan))


def _labels(plan: Plan) -> Iterator[bytes]:
    labels = plan.labels
    if labels is None:
        return
    yield _MAGIC
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
