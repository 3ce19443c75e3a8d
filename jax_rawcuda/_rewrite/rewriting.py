"""PTX text in, changed PTX text or a reason against it out."""

from __future__ import annotations

import dataclasses

from .adaptation import Adaptation


@dataclasses.dataclass(frozen=True, slots=True)
class Rewritten:
    """Changed PTX.

    Attributes:
      ptx: The text: the entry, under its own name, and what it reaches.
    """

    ptx: str


@dataclasses.dataclass(frozen=True, slots=True)
class Refusal:
    """Why an entry cannot be changed.

    Attributes:
      reason: One sentence; names the instruction and its source line when there is one.
    """

    reason: str


def rewrite(ptx: str, entry: str, adaptation: Adaptation) -> Rewritten | Refusal:  # noqa: ARG001
    """Changes an entry of PTX.

    Args:
      ptx: The text.
      entry: The entry's symbol.
      adaptation: What to change.
    """
    return Refusal(f"{entry} cannot be rewritten: no instruction is known yet.")
