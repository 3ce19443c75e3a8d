"""What the regions of a kernel share: cuts, live registers, frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..analysis.graph import Graph, Suspend
from ..analysis.liveness import live_in
from ..llvm_types import LLVM_TYPES, WIDTHS
from ..ptx.operands import CARRY
from ..ptx.types import round_up
from ..ptx.variable import Variable
from ..sync.points import point_registers

_FRAME_ALIGN = 16
# A larger variable is kept off the stack, of which some threads have little.
_LARGE = 64 << 10


@dataclass(frozen=True, slots=True)
class Region:
    """One region: where it starts, and the sync point before it (None at entry)."""

    start: str
    after: Suspend | None


class KernelLayout:
    """What the regions of a kernel share.

    Attributes:
      graph: The kernel's blocks.
      regions: All regions; a suspended thread's `next` is an index into them.
      registers: Register name -> PTX type.
      variables: Local variables by name.
      parameters: Kernel parameter -> byte offset.
      live: First block of a region -> registers live at its start.
      slots: Register -> byte offset of its array, per thread of the block.
      slot_bytes: Bytes of all arrays, per thread.
      frame: Variable -> offset in the thread's frame.
      frame_bytes: Size of a thread's frame.
      on_stack: Whether a local variable is not in it.

    With a `red_zone`, in bytes, every variable is in the frame and lies between two.
    """

    def __init__(
        self,
        graph: Graph,
        registers: Mapping[str, str],
        variables: Mapping[str, Variable],
        framed: set[str],
        parameters: Mapping[str, int],
        red_zone: int = 0,
    ) -> None:
        self.graph = graph
        self.registers = {**registers, CARRY.name: "pred"}
        self.variables = variables
        self.parameters = parameters
        self.regions = [Region(next(iter(graph.blocks)), None)]
        self._numbers: dict[str, int] = {}
        for label, block in graph.blocks.items():
            if isinstance(block.terminator, Suspend):
                self._numbers[label] = len(self.regions)
                self.regions.append(Region(block.terminator.resume, block.terminator))
        self.live = live_in(graph, [region.start for region in self.regions])
        self.frame: dict[str, int] = {}
        self.frame_bytes = 0
        if red_zone:
            self._place_frame(set(variables), red_zone)
        elif len(self.regions) > 1:
            self._place_frame(framed)
        else:
            self._place_frame({n for n in framed if variables[n].size > _LARGE})
        self.on_stack = any(
            variable.space == "local" and name not in self.frame
            for name, variable in variables.items()
        )
        self.slots: dict[str, int] = {}
        self.slot_bytes = 0
        self._place_slots()

    def number(self, label: str) -> int:
        """Returns the region that follows the sync point at the end of a block."""
        return self._numbers[label]

    def _place_frame(self, framed: set[str], red_zone: int = 0) -> None:
        end = red_zone
        for name, variable in self.variables.items():
            if name in framed:
                end = round_up(end, max(variable.align, 8))
                self.frame[name] = end
                end += variable.size + red_zone
        self.frame_bytes = round_up(end, _FRAME_ALIGN) if self.frame else 0

    def _place_slots(self) -> None:
        """Gives each register that lives across a sync point an array, widest first."""
        live: set[str] = set()
        for region in self.regions[1:]:
            if region.after:
                fetched = point_registers(region.after.point)[1]
                live |= self.live[region.start].difference(fetched)
        widths = {
            name: max(WIDTHS[LLVM_TYPES[self.registers[name]]] // 8, 1) for name in live
        }
        for name in sorted(live, key=lambda name: (-widths[name], name)):
            self.slots[name] = self.slot_bytes
            self.slot_bytes += widths[name]
