"""What the buffers of a checked plan are called, and what they hold at first."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class BufferState(enum.IntFlag):
    """What is known of a buffer; read by ffi/plan/labels.cc."""

    INITIALIZED = 1  # holds values before the first command
    VISIBLE = 2  # somebody looks at it after the last one
    READ_ONLY = 4


@dataclass(frozen=True, slots=True)
class Labels:
    """What the buffers of a checked plan are called.

    Attributes:
      operands: One name each.
      results: One name each, visible ones first, then workspaces.
      states: Of the results, when the plan does not tell: in live sessions.
    """

    operands: tuple[str, ...]
    results: tuple[str, ...]
    states: tuple[BufferState, ...] = ()
