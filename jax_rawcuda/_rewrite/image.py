"""The image of a changed entry, cached."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Literal

from .._base import cache
from .._base.errors import CompileError
from .._compile.cubin import cubin_variables
from .._compile.image import ptx_variables
from . import link
from .adaptation import Adaptation
from .rewriting import Refusal, rewrite

# Raise it when the same key shall give another image.
_LAYOUT = 2
_CUBIN, _PTX, _REFUSAL = b"C", b"P", b"R"


@dataclasses.dataclass(frozen=True, slots=True)
class RewrittenImage:
    """A changed entry, ready to travel in a plan.

    Attributes:
      data: The bytes. The entry keeps its symbol.
      kind: `ptx` for an architecture such as `compute_90`, and where nvJitLink is not
        installed.
    """

    data: bytes
    kind: Literal["cubin", "ptx"]

    def kept(
        self, values: Iterable[tuple[str, bytes]]
    ) -> tuple[tuple[str, bytes], ...]:
        """Returns those of a module's (symbol, first value) pairs that belong here.

        The image has only the variables that the entry reaches.
        """
        pairs = tuple(values)
        if not pairs:
            return ()
        if self.kind == "cubin":
            variables = cubin_variables(self.data)
        else:
            variables = ptx_variables(self.data.decode())
        symbols = {variable.symbol for variable in variables}
        return tuple(pair for pair in pairs if pair[0] in symbols)


def rewritten_image(
    ptx: str,
    entry: str,
    adaptation: Adaptation,
    arch: str,
    flags: Sequence[str] = (),
) -> RewrittenImage | Refusal:
    """Rewrites an entry and links it, or finds either outcome in the cache.

    What nvJitLink cannot read, because it is older than the text, is refused as well.

    Args:
      ptx: The module's PTX.
      entry: The entry's symbol.
      adaptation: What to change.
      arch: Such as `sm_90`.
      flags: NVRTC's, of the compilation that made the PTX; those that matter to machine
        code are used again.

    Raises:
      BackendError: nvJitLink failed, whatever the text.
    """
    linked = arch.startswith("sm_") and link.is_available()
    options = link.link_flags(flags) if linked else ()
    key = cache.fingerprint(
        f"rewritten {_LAYOUT}",
        ptx,
        entry,
        repr(adaptation),
        link.version_text() if linked else "ptx",
        *(arch, *options) if linked else (),
    )

    def make() -> bytes:
        outcome = rewrite(ptx, entry, adaptation)
        if isinstance(outcome, Refusal):
            return _REFUSAL + outcome.reason.encode()
        if not linked:
            return _PTX + outcome.ptx.encode()
        try:
            return _CUBIN + link.link(outcome.ptx, arch, options)
        except CompileError as error:
            reason = f"nvJitLink {link.version_text()} refuses it: {error.log}"
            return _REFUSAL + f"{reason.splitlines()[0]}.".encode()

    stored = cache.lookup("rewritten", key, make)
    tag, data = stored[:1], stored[1:]
    if tag == _REFUSAL:
        return Refusal(data.decode())
    return RewrittenImage(data, "cubin" if tag == _CUBIN else "ptx")
