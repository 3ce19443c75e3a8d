"""How long functions become where calls are replaced by what they call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from ..._base.errors import UnsupportedError
from ..ptx.module import Module
from .call_graph import Calls

# Longer functions that are called at several places stay functions: with calls in
# their turn, they would grow with every level of calls. LLVM asks each only for itself.
_MOST_INLINED = 300
_MOST_STATEMENTS = 50_000
# What runs in far less than a second, if there is no loop in it.
_SHORT = 1_000_000


def kept_functions(module: Module, calls: Calls) -> set[str]:
    """Returns the functions that LLVM must not inline.

    Args:
      module: The PTX.
      calls: Of the functions that a kernel reaches.
    """
    places = sum(calls.values(), Counter())
    kept: set[str] = set()
    lengths: dict[str, int] = {}
    for name in _callees_first(calls):
        lengths[name] = _length(module, name, calls, lengths, kept)
        if places[name] > 1 and lengths[name] > _MOST_INLINED:
            kept.add(name)
    return kept


def check_length(module: Module, kernel: str, calls: Calls, inlined: set[str]) -> None:
    """Refuses a kernel that becomes too long to compile in a reasonable time.

    Args:
      module: The PTX.
      kernel: The kernel's symbol.
      calls: Of the functions that it reaches, itself among them.
      inlined: Those that are copied to each place that calls them.

    Raises:
      UnsupportedError: It becomes too long.
    """
    functions = set(calls) - inlined
    lengths = _lengths(module, calls, functions)
    total = sum(lengths[name] for name in functions | {kernel})
    if total > _MOST_STATEMENTS:
        copied = sorted(inlined - {kernel}, key=lengths.__getitem__)
        raise UnsupportedError(
            f"{kernel}: {total} PTX statements to compile for the CPU; the limit is "
            f"{_MOST_STATEMENTS}. Unroll fewer loops, or split the kernel."
            + (
                " Functions with a barrier or warp operation are copied to each place "
                f"that calls them; the longest is {copied[-1]}."
                if copied
                else ""
            )
        )


def long_functions(module: Module, calls: Calls) -> set[str]:
    """Returns the functions that take long because they call so many others.

    Args:
      module: The PTX.
      calls: Of the functions that a kernel reaches.
    """
    lengths = _lengths(module, calls, ())
    return {name for name, length in lengths.items() if length > _SHORT}


def _lengths(module: Module, calls: Calls, kept: Collection[str]) -> dict[str, int]:
    lengths: dict[str, int] = {}
    for name in _callees_first(calls):
        lengths[name] = _length(module, name, calls, lengths, kept)
    return lengths


def _length(
    module: Module,
    name: str,
    calls: Calls,
    lengths: Mapping[str, int],
    kept: Collection[str],
) -> int:
    """Counts statements; a call of itself, directly or not, is one."""
    inside = sum(
        count * lengths[callee]
        for callee, count in calls[name].items()
        if callee in lengths and callee not in kept
    )
    return len(module.functions[name].body.statements) + inside


def _callees_first(calls: Calls) -> list[str]:
    """Orders functions so that each comes after those it calls, but for recursion."""
    order: dict[str, None] = {}
    seen: set[str] = set()
    for root in calls:
        todo = [root]
        while todo:
            name = todo[-1]
            if name not in seen:
                seen.add(name)
                todo += [c for c in calls[name] if c in calls and c not in seen]
            else:
                order[todo.pop()] = None
    return list(order)
