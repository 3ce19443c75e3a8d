"""Which accesses of a kernel lie beyond a sync point.

A thread whose last access does has gone past the point, and will not come to it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .cfg import Graph, Suspend


def sites_beyond(
    graph: Graph, points: Sequence[Suspend | None], blocks: Sequence[str]
) -> tuple[bytes, ...]:
    """Returns one bit per site, lowest first, for each of the points.

    Args:
      graph: The kernel's blocks.
      points: Sync points of it; for None no site is beyond.
      blocks: The block of each site; "" if that is not known.
    """
    following = {label: block.successors() for label, block in graph.blocks.items()}
    preceding: dict[str, list[str]] = {label: [] for label in graph.blocks}
    for label, targets in following.items():
        for target in targets:
            preceding[target].append(label)
    after, before = _closure(following), _closure(preceding)
    sites = dict.fromkeys(graph.blocks, 0)
    for site, label in enumerate(blocks):
        if label:
            sites[label] |= 1 << site

    ends = {
        block.terminator: label
        for label, block in graph.blocks.items()
        if isinstance(block.terminator, Suspend)
    }

    def beyond(point: Suspend | None) -> bytes:
        if point is None:
            return b""
        reached = after[point.resume] & ~before[ends[point]]
        bits = 0
        for number, label in enumerate(graph.blocks):
            if reached >> number & 1:
                bits |= sites[label]
        return bits.to_bytes(-(-len(blocks) // 8), "little")

    return tuple(map(beyond, points))


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
