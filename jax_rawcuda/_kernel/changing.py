"""ChangingScalars: numbers of which eager calls give one new value after the other."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base.compat import is_eager, transfers_freely
from .._base.errors import RawCudaError, UnsupportedError
from .._session.refs import DeviceBytes, Ref
from .._types.scalars import KernelArg, pack_scalar
from .._types.signature import Parameter
from .arguments import Roles, positional_names

_STATIC_VALUES = 2  # of one scalar that are compiled into programs
_NUMBERS = (int, float, complex, np.generic, np.ndarray, KernelArg)


@dataclass(frozen=True, slots=True)
class Slot:
    """Stands for a scalar of a call whose bytes are in an array.

    Attributes:
      type: The parameter's C type.
      offset: Where it starts in the array, in bytes.
      size: In bytes.
    """

    type: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class _Place:
    key: int | str  # position or keyword
    parameter: Parameter
    slot: Slot


class ChangingScalars:
    """Which scalars of a kernel eager calls read from memory, and how.

    Two values of a scalar become part of programs. From the third on it is taken for
    one that changes with every call, as in a loop over time, and travels in an array.
    Threads may count at the same time: at worst a value is compiled once too often.
    """

    def __init__(self, kernel: str) -> None:
        self._kernel = kernel
        self._values: dict[str, set[bytes]] = {}
        self._names: frozenset[str] = frozenset()
        self._roles: Roles | None = None
        self._layouts: dict[Hashable, tuple[tuple[_Place, ...], int]] = {}
        self._possible = True

    def count(self, roles: Roles, named: Mapping[str, Any]) -> bool:
        """Notes the scalars of a call that is recorded.

        Returns:
          Whether one of them has begun to change.
        """
        if not self._possible or not _stands_alone(named.values()):
            return False
        before = self._names
        for parameter in roles.parameters:
            name = parameter.name
            if parameter.is_pointer or name in roles.dimensions or name in before:
                continue
            if not isinstance(value := named.get(name), _NUMBERS):
                continue
            try:
                data = pack_scalar(self._kernel, parameter, value)
            except RawCudaError:  # recording the call raises it again
                return False
            seen = self._values.setdefault(name, set())
            seen.add(data)
            if len(seen) > _STATIC_VALUES:
                self._names |= {name}
        self._roles = roles
        self._layouts.clear()
        return self._names != before

    def move(
        self, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> tuple[list[Any], dict[str, Any], np.ndarray] | None:
        """Moves the scalars that change into an array.

        Returns:
          The call with a Slot for each of them, and the array, uint8[bytes]; None where
          none of them is a number here, or anything is traced.
        """
        if not self._names or not _stands_alone((*args, *keywords.values())):
            return None
        layout = len(args), *keywords
        known = self._layouts.get(layout)  # another thread may clear them
        if known is None:
            known = self._layouts[layout] = self._lay_out(len(args), keywords)
        places, nbytes = known
        positional, named, data = [*args], {**keywords}, bytearray(nbytes)
        moved = False
        for place in places:
            slot, key = place.slot, place.key
            value = positional[key] if isinstance(key, int) else named[key]
            if not isinstance(value, _NUMBERS):
                continue
            try:
                packed = pack_scalar(self._kernel, place.parameter, value)
            except RawCudaError:
                return None
            data[slot.offset : slot.offset + slot.size] = packed
            if isinstance(key, int):
                positional[key] = slot
            else:
                named[key] = slot
            moved = True
        return (positional, named, np.frombuffer(data, np.uint8)) if moved else None

    def give_up(self) -> None:
        """Keeps every scalar in programs: the kernel cannot read them from memory."""
        self._possible, self._names = False, frozenset()

    def _lay_out(
        self, count: int, keywords: Mapping[str, Any]
    ) -> tuple[tuple[_Place, ...], int]:
        """Where the scalars that change stand, in a call of this form and in memory."""
        roles = self._roles
        names = None if roles is None else positional_names(roles, count, keywords)
        if roles is None or names is None:  # the call is refused
            return (), 0
        keys: dict[str, int | str] = {name: name for name in keywords}
        keys |= {name: i for i, name in enumerate(names)}
        places, nbytes = [], 0
        for parameter in roles.parameters:
            if parameter.name in self._names and parameter.name in keys:
                offset = -(-nbytes // parameter.align) * parameter.align
                slot = Slot(parameter.type, offset, parameter.size)
                places.append(_Place(keys[parameter.name], parameter, slot))
                nbytes = offset + parameter.size
        return tuple(places), nbytes


def _stands_alone(given: Iterable[Any]) -> bool:
    """Whether a call runs at once, in no trace and no op: those fix its numbers.

    And whether its numbers may go to the device as an array.
    """
    refs = any(isinstance(x, Ref) for x in given)
    return is_eager() and not refs and transfers_freely()


def fill_slots(
    roles: Roles, named: Mapping[str, Any], held: Ref
) -> dict[str, DeviceBytes]:
    """Returns a reference to the bytes of each scalar that a Slot stands for.

    Args:
      roles: Of the kernel.
      named: The call.
      held: The array of the call.

    Raises:
      UnsupportedError: The call is for another instance of a template, with scalars of
        other types.
    """
    found = {}
    for parameter in roles.parameters:
        slot = named.get(parameter.name)
        if isinstance(slot, Slot):
            if slot.type != parameter.type:
                raise UnsupportedError(
                    f"{roles.kernel}: scalar '{parameter.name}' is `{parameter.type}` "
                    f"here and `{slot.type}` in another instance."
                )
            found[parameter.name] = held.at_bytes(slot.offset)[: slot.size]
    return found
