"""What the functions of one LLVM module share while they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..ptx.instruction import Instruction

if TYPE_CHECKING:
    from ..check.actions import Site
    from .emitter import Emitter
    from .variables import Variables


@dataclass
class ModuleState:
    """What all functions of one translation share.

    Attributes:
      pointed: LLVM symbols of the functions that may be called through a pointer, by
        the number of their parameters and results.
      kept: Functions that must not be inlined.
      accesses: Of checked code, by site.
      origins: Of checked code: for the registers of the function that is being written,
        see `origins.py`.
      guesses: Likewise; see `guesses.py`.
      copies: Likewise; see `copies.py`.
    """

    variables: Variables
    opcodes: Mapping[str, Callable[[Emitter, Instruction], None]]
    may_fault: frozenset[str] = frozenset()
    deep: frozenset[str] = frozenset()
    pointed: Mapping[int, Sequence[str]] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()
    checked: bool = False
    declarations: dict[str, str] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)
    functions: list[str] = field(default_factory=list)
    metadata: list[str] = field(default_factory=list)
    sites: list[str] = field(default_factory=list)
    accesses: dict[int, Site] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    guesses: frozenset[str] = frozenset()
    copies: Mapping[str, int] = field(default_factory=dict)
