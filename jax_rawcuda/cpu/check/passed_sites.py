"""Sites that lie after a sync point: a thread that is there has passed the point.

Reports of races and of barriers where threads are missing name the threads that went
past a barrier without waiting. The last access that a thread made tells: it can be
reached from the barrier, and the barrier cannot be reached from it any more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ..analysis.graph import Graph, Suspend
from ..ptx.instruction import Location
from .actions import Site


def passed_sites(
    graph: Graph, points: Sequence[Suspend | None], sites: Sequence[Site]
) -> tuple[bytes, ...]:
    """Returns one bit per site, lowest first, for each of the points.

    Args:
      graph: The kernel's blocks.
      points: Sync points of it; no site lies after None.
      sites: The kernel's accesses and sync points.
    """
    following = {label: block.successors() for label, block in graph.blocks.items()}
    preceding: dict[str, list[str]] = {label: [] for label in graph.blocks}
    for label, targets in following.items():
        for target in targets:
            preceding[target].append(label)
    after, before = _closure(following), _closure(preceding)
    in_blocks: defaultdict[str, int] = defaultdict(int)
    in_places: defaultdict[Location | None, int] = defaultdict(int)
    for number, site in enumerate(sites):
        if site.block:
            in_blocks[site.block] |= 1 << number
            in_places[site.location] |= 1 << number
    ends = {
        block.terminator: label
        for label, block in graph.blocks.items()
        if isinstance(block.terminator, Suspend)
    }

    def passed(point: Suspend | None) -> bytes:
        if point is None:
            return b""
        reached = after[point.resume] & ~before[ends[point]]
        bits = 0
        for number, label in enumerate(graph.blocks):
            if reached >> number & 1:
                bits |= in_blocks[label]
        # In a macro all have one place, also what was merged from several branches.
        if (place := point.instruction.location) is not None:
            bits &= ~in_places[place]
        return bits.to_bytes(-(-len(sites) // 8), "little")

    return tuple(map(passed, points))


def _closure(edges: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Returns what can be reached from each block, itself included: a bit per block."""
    reached = {label: 1 << number for number, label in enumerate(edges)}
    before: dict[str, int] = {}
    while reached != before:
        before = dict(reached)
        for label in reversed([*edges]):  # most edges go forwards
            for target in edges[label]:
                reached[label] |= reached[target]
    return reached
