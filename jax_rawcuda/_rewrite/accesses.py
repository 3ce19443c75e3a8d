"""How wide a kernel reads and writes: so aligned must its pointers be."""

from __future__ import annotations

import functools

from ..cpu import SIZES, Instruction, Integer, Memory, Tensor
from .source import UNREADABLE, read_source

WIDEST = 32  # bytes at once, of ordinary accesses on any device

_LANES = {"v2": 2, "v4": 4, "v8": 8}
# Spaces that no pointer of an argument leads to.
_OTHER_SPACES = (
    *("param", "param::entry", "param::func", "local", "const"),
    *("shared", "shared::cta", "shared::cluster"),
)
_ORDINARY = frozenset({"ld", "ldu", "st", "atom", "red"})
# They move no data through a pointer, or none that must be aligned.
_NO_ACCESS = frozenset({"call", "prefetch", "prefetchu", "isspacep", "mbarrier", "tex"})
_MATRIX = 32  # wmma.load and wmma.store
_LINE = 128  # a tensor map, or a line of the cache
_UNKNOWN = 16  # cp.async.bulk, too


@functools.lru_cache(maxsize=256)
def widest_access(ptx: str, entry: str) -> int:
    """Returns the widest access to global memory that an entry may make, in bytes.

    It is a power of two, the alignment that pointers need. Accesses whose space is not
    known count, and so does every function that the entry reaches. Of a text that
    cannot be read the widest of vectors is assumed.

    Args:
      ptx: The text.
      entry: The entry's symbol.
    """
    try:
        source = read_source(ptx)
        return max(
            (
                _width(statement.instruction)
                for item in source.reachable(entry)
                if item.body
                for statement in source.statements(item.name)
            ),
            default=1,
        )
    except UNREADABLE:
        return WIDEST


def _width(instruction: Instruction) -> int:
    opcode = instruction.opcode
    memory = any(isinstance(o, Memory | Tensor) for o in instruction.operands)
    if not memory or opcode in _NO_ACCESS:
        return 1
    if opcode == "cp":
        return _copy_width(instruction)
    if instruction.has(*_OTHER_SPACES):
        return 1
    if opcode in _ORDINARY:
        lanes = _LANES.get(instruction.pick(*_LANES) or "", 1)
        return lanes * SIZES.get(instruction.type, _UNKNOWN)
    if opcode == "wmma":
        return _MATRIX
    if opcode in ("tensormap", "discard", "applypriority", "fence"):
        return _LINE
    return _UNKNOWN


def _copy_width(instruction: Instruction) -> int:
    """`cp.async [a], [b], n`, in bulk or through a tensor map."""
    if instruction.has("tensor"):
        return _LINE
    if instruction.has("mbarrier"):
        return 1
    size = instruction.operands[2] if len(instruction.operands) > 2 else None
    if instruction.has("bulk") or not isinstance(size, Integer):
        return _UNKNOWN
    return size.value
