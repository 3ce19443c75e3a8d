"""Loops of a control-flow graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

from .graph import Graph

Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop with one header.

    Attributes:
      header: The only block that is entered from outside.
      blocks: All blocks, with those of inner loops.
    """

    header: str
    blocks: frozenset[str]


def cycles(
    nodes: Iterable[str], successors: Callable[[str], Iterable[str]]
) -> list[set[str]]:
    """Returns the strongly connected components that contain a cycle (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    on_path: set[str] = set()
    found: list[set[str]] = []

    work: list[tuple[str, Iterator[str]]] = []

    def enter(node: str) -> None:
        index[node] = low[node] = len(index)
        path.append(node)
        on_path.add(node)
        work.append((node, iter(tuple(successors(node)))))

    def leave(node: str) -> None:
        component = {node}
        while (last := path.pop()) != node:
            component.add(last)
        on_path.difference_update(component)
        if len(component) > 1 or node in tuple(successors(node)):
            found.append(component)

    for root in nodes:
        if root not in index:
            enter(root)
        while work:
            node, pending = work[-1]
            for successor in pending:
                if successor not in index:
                    enter(successor)
                    break
                if successor in on_path:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    leave(node)
    return found


def loops_between_syncs(graph: Graph) -> list[set[str]]:
    """Returns the block sets that can repeat without a sync point."""
    return cycles(graph.blocks, lambda label: graph.blocks[label].successors(False))


def predecessors(graph: Graph) -> dict[str, list[str]]:
    """Returns which blocks a block may follow, also across sync points."""
    found: dict[str, list[str]] = {}
    for label, block in graph.blocks.items():
        for successor in block.successors():
            found.setdefault(successor, []).append(label)
    return found


def nest(
    graph: Graph, blocks: Set[str], before: Mapping[str, list[str]]
) -> list[Loop] | None:
    """Splits a cycle into its loop and the inner loops.

    Args:
      graph: The kernel.
      blocks: The cycle's.
      before: The graph's `predecessors`.

    Returns:
      The loops, outermost first; None if one has several entries.
    """

    def split(part: Set[str], removed: frozenset[Edge]) -> list[Loop] | None:
        heads = [
            label
            for label in part
            if any(other not in part for other in before.get(label, ()))
        ]
        if len(heads) != 1:
            return None
        (header,) = heads
        found = [Loop(header, frozenset(part))]
        cut = removed | {(label, header) for label in part}

        def successors(label: str) -> list[str]:
            return [
                after
                for after in graph.blocks[label].successors(False)
                if after in part and (label, after) not in cut
            ]

        for inner in cycles(sorted(part), successors):
            deeper = split(inner, cut)
            if deeper is None:
                return None
            found += deeper
        return found

    return split(blocks, frozenset())
