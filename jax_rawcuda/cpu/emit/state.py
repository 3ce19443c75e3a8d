"""What the functions of one LLVM module share while they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..check.actions import Site
from .variables import Variables


@dataclass
class ModuleState:
    """What all functions of one translation share.

    Attributes:
      variables: Where the module's variables are.
      opcodes: What writes an instruction, of (emitter, instruction), by its opcode.
      may_fault: Functions after whose call a thread may have to end.
      deep: Functions that ask whether there is stack left.
      pointed: LLVM symbols of the functions that may be called through a pointer, by
        the number of their parameters and results.
      kept: Functions that must not be inlined.
      checked: Whether accesses ask the runtime first.
      declarations: LLVM IR of the functions that are called, by name.
      definitions: LLVM IR of internal functions that instructions are written with.
      functions: Lines of LLVM IR of the regions and the device functions.
      metadata: Lines of LLVM IR.
      sites: The text of each place that may fault.
      accesses: Of checked code, by site.
    """

    variables: Variables
    opcodes: Mapping[str, Callable[..., None]]
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
