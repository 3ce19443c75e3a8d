"""What a compiler gives back: image, names, log, use of resources."""

from __future__ import annotations

import dataclasses
import json


@dataclasses.dataclass(frozen=True, slots=True)
class Usage:
    """What one kernel of a cubin takes, as ptxas reports it.

    Attributes:
      registers: Per thread.
      shared_bytes: Static shared memory per block.
      local_bytes: Stack per thread.
      spill_bytes: Of registers that did not fit, stores and loads per thread.
    """

    registers: int = 0
    shared_bytes: int = 0
    local_bytes: int = 0
    spill_bytes: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class CompileResult:
    """A compiled source.

    Attributes:
      cubin: The image for the architecture, b"" for a `compute_` one.
      ptx: The PTX text that it was made of.
      lowered_names: (name expression, symbol) pairs.
      types: (name expression, function pointer type) pairs.
      usage: (symbol, usage) pairs.
      log: The compiler's warnings.
    """

    cubin: bytes
    ptx: str
    lowered_names: tuple[tuple[str, str], ...] = ()
    types: tuple[tuple[str, str], ...] = ()
    usage: tuple[tuple[str, Usage], ...] = ()
    log: str = ""

    def encode(self) -> bytes:
        """Returns bytes for a cache."""
        values = dataclasses.asdict(self)
        del values["cubin"]
        header = json.dumps(values).encode()
        return len(header).to_bytes(8, "little") + header + self.cubin

    @classmethod
    def decode(cls, data: bytes) -> CompileResult:
        """Reads what `encode` wrote."""
        end = 8 + int.from_bytes(data[:8], "little")
        values = json.loads(data[8:end])
        return cls(
            cubin=data[end:],
            ptx=values["ptx"],
            lowered_names=tuple((a, b) for a, b in values["lowered_names"]),
            types=tuple((a, b) for a, b in values["types"]),
            usage=tuple((symbol, Usage(**u)) for symbol, u in values["usage"]),
            log=values["log"],
        )
