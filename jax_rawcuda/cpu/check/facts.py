"""What the code of one function shows of its accesses, for the checks to judge them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..analysis.graph import Graph
from ..ptx.instruction import Statement
from .copied_loads import copied_loads
from .guessed_loads import guessed_loads
from .provenance import provenance


@dataclass(frozen=True, slots=True)
class AccessFacts:
    """Facts about the registers of a function.

    Attributes:
      provenance: Register -> the variable that its address was computed from.
      guessed: Registers with what a load has guessed and a compare-and-swap verifies.
      copied: Register with what is only stored again -> the number of its load.
    """

    provenance: Mapping[str, str] = field(default_factory=dict)
    guessed: frozenset[str] = frozenset()
    copied: Mapping[str, int] = field(default_factory=dict)


NO_FACTS = AccessFacts()


def access_facts(statements: Iterable[Statement], graph: Graph) -> AccessFacts:
    """Finds the facts of a function, given as statements and as their graph."""
    return AccessFacts(
        provenance(statements), guessed_loads(graph), copied_loads(graph)
    )
