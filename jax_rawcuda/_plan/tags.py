"""The numbers in a plan's bytes; `ffi/plan/tags.h` has the same.

Two more stand where they are used: `commands.Space` and `labels.BufferState`.
"""

from __future__ import annotations

import enum

PLAN_MAGIC = b"JRC1"  # before everything
LABELS_MAGIC = b"CHK1"  # before the labels


class CommandTag(enum.IntEnum):
    """Which command follows."""

    LAUNCH = 1
    COPY = 2
    FILL = 3
    SYNCHRONIZE = 4
    VERIFY = 5


class ArgumentTag(enum.IntEnum):
    """What a kernel argument is."""

    POINTER = 0  # an address
    SCALAR = 1  # bytes that the plan holds
    DYNAMIC = 2  # bytes that a buffer holds, for the handler to read: on the CPU
    START = 3  # number of the batch element that a launch begins with, 64 bits


class ImageKind(enum.IntEnum):
    """What the bytes of a module image are."""

    CUBIN = 1
    PTX = 2
    HOST_PTX = 3


class ImageFlag(enum.IntFlag):
    """Bits beside an image's kind."""

    HAS_VARIABLES = 0x80


class LaunchFlag(enum.IntFlag):
    """How a kernel is started."""

    COOPERATIVE = 1
    PROGRAMMATIC = 2
    AT_ONCE = 4  # one launch serves all batch elements of a piece
