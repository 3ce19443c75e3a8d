"""Where the variables of a checked kernel are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from .._base.demangle import demangle
from .._base.errors import ValidationError
from .analysis.graph import Suspend, Terminator
from .check.actions import Site, exact_block
from .check.passed_sites import passed_sites
from .emit.state import ModuleState
from .ptx.module import Module
from .ptx.types import SIZES
from .ptx.variable import Variable
from .sync import table
from .transforms.layout import KernelLayout

_PART = re.compile(r"(?:_\$_\d+)+$")


@dataclass(frozen=True, slots=True)
class CheckedVariable:
    """A variable that accesses must stay inside of.

    Attributes:
      name: As the source spells it.
      place: Its offset in shared memory or in a thread's frame, or its address.
      size: In bytes; 0 for dynamic shared memory.
      item_bytes: Of one element, for messages; 0 if unknown.
      writable: Whether it is not constant.
    """

    name: str
    place: int
    size: int
    item_bytes: int = 0
    writable: bool = True


@dataclass(frozen=True, slots=True)
class CheckTable:
    """What the runtime must know to check a kernel's accesses.

    Attributes:
      shared: Shared variables.
      local: Local variables and call parameters, in each thread's frame.
      globals: Global and constant variables, by symbol until they have a place.
      red_zone_bytes: What red zones add to static shared memory.
      passed_sites: Per region, one bit per site, lowest first, and one per region for
        the sync point before it: whether that is beyond the sync point that the region
        begins with. Empty if that is for some threads only.
      origins: Per site, the variable that the address was computed from, counted from 1
        through the three lists and the parameters; 0 if that is not known.
    """

    shared: tuple[CheckedVariable, ...]
    local: tuple[CheckedVariable, ...]
    globals: tuple[CheckedVariable, ...] = ()
    red_zone_bytes: int = 0
    passed_sites: tuple[bytes, ...] = ()
    origins: tuple[int, ...] = ()

    def located(self, addresses: Mapping[str, int]) -> CheckTable:
        """Returns the table with the addresses of the global variables.

        Args:
          addresses: Symbol -> address.
        """
        found = tuple(
            replace(v, name=_spelling(v.name), place=addresses[v.name])
            for v in self.globals
        )
        return replace(self, globals=found)


def check_table(module: Module, state: ModuleState, layout: KernelLayout) -> CheckTable:
    """Builds the table of a translated kernel."""
    variables = state.variables
    placed = sorted(variables.shared(), key=lambda pair: pair[1])
    shared = tuple(
        CheckedVariable(_spelling(v.name), place, v.size, _element(v), writable=True)
        for v, place in placed
    )
    names = [*(v.name for v, _ in placed), *layout.frame, *variables.named]
    names += layout.parameters
    number = {name: index for index, name in enumerate(names, 1)}
    sites = [state.accesses.get(i, Site()) for i in range(len(state.sites))]
    points = [
        point if point and table.is_collective(point.point) else None
        for point in (region.after for region in layout.regions)
    ]
    ends = {block.terminator: label for label, block in layout.graph.blocks.items()}
    places = [*sites, *(_place(ends, point) for point in points)]
    local = tuple(
        CheckedVariable(name, place, layout.variables[name].size)
        for name, place in layout.frame.items()
    )
    global_ = (module.variables[name] for name in variables.named)
    return CheckTable(
        shared=shared,
        local=local,
        globals=tuple(
            CheckedVariable(v.name, 0, v.size, _element(v), v.space != "const")
            for v in global_
        ),
        red_zone_bytes=variables.red_zone_bytes,
        passed_sites=passed_sites(layout.graph, points, places),
        origins=tuple(number.get(site.origin, 0) for site in sites),
    )


def _place(ends: Mapping[Terminator | None, str], point: Suspend | None) -> Site:
    """Returns where a sync point stands, as if it were an access."""
    if point is None:
        return Site()
    block = exact_block(ends[point], point.instruction)
    return Site(block, location=point.instruction.location)


def _element(variable: Variable) -> int:
    size = SIZES[variable.type]
    return 0 if size == 1 else size  # clang declares arrays of bytes


def _spelling(symbol: str) -> str:
    """Returns `tile` for `_ZZ6matmulPKfE4tile`."""
    # LLVM splits a variable whose parts have constant places: `total` is `total_$_0`.
    whole = _PART.sub("", symbol.partition("@")[0])
    try:
        text = demangle(whole)
    except ValidationError:  # a compiler's own name is better than no check
        text = whole
    return text.rpartition("::")[2]
