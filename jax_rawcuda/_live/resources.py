"""Resources: what live ops keep between calls, such as handles of vendor libraries."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from .._base.errors import SessionError, ValidationError

MAX_ENTRIES = 16
MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class ResourceStats:
    """What one device's cache holds, and counters since the process started.

    Attributes:
      entries: Values held.
      bytes: The sum of their `nbytes` when they were made.
      hits: Requests answered with a value held.
      misses: Requests that called an initialiser.
      evictions: Values dropped to keep the bounds.
      clears: Calls of `clear_resources`.
    """

    entries: int = 0
    bytes: int = 0
    hits: int = 0
    misses: int = 0
    evictions: int = 0
    clears: int = 0


class _Making:
    """A value that one thread is making, and others may wait for."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.done = threading.Event()
        self.values: list[Any] = []  # one, once it is made


@dataclass(frozen=True, slots=True)
class _Entry:
    value: Any
    nbytes: int


class ResourceCache:
    """Values by key, the least recently used dropped first.

    Thread safe. An initialiser runs without the lock, once per key at a time.

    Args:
      max_entries: Values held at most.
      max_bytes: Their `nbytes` together at most.
    """

    def __init__(
        self, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES
    ) -> None:
        self._lock = threading.Lock()  # held for moments, never around user code
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._making: dict[Hashable, _Making] = {}
        self._waiting: dict[int, Hashable] = {}  # by thread
        self._count = dict.fromkeys(("hits", "misses", "evictions", "clears"), 0)
        self._max_entries, self._max_bytes = max_entries, max_bytes

    def get(self, owner: str, key: Hashable, init: Callable[[], Any]) -> Any:
        """Returns the value under `key`, or makes it; a failure stores nothing."""
        while True:
            with self._lock:
                if key in self._entries:
                    self._entries.move_to_end(key)
                    self._count["hits"] += 1
                    return self._entries[key].value
                making = self._making.get(key)
                if making is None:
                    making = self._making[key] = _Making()
                    self._count["misses"] += 1
                    break
                self._refuse_circle(owner, key)
                self._waiting[threading.get_ident()] = key
            making.done.wait()
            with self._lock:
                del self._waiting[threading.get_ident()]
                if making.values:
                    self._count["hits"] += 1
                    return making.values[0]
            # It failed elsewhere; that thread has the error. Try here.
        dropped: list[_Entry] = []  # die without the lock: a destructor may come back
        try:
            value = init()
            entry = _Entry(value, _nbytes(value))
            making.values.append(value)
            with self._lock:
                if entry.nbytes <= self._max_bytes:
                    self._entries[key] = entry
                    dropped = self._shrink()
        finally:
            with self._lock:
                del self._making[key]
            making.done.set()
        dropped.clear()
        return value

    def stats(self) -> ResourceStats:
        """Returns the counters."""
        with self._lock:
            return ResourceStats(len(self._entries), self._bytes(), **self._count)

    def clear(self) -> None:
        """Drops every value; those in use live on until their users let go."""
        with self._lock:
            dropped, self._entries = self._entries, OrderedDict()
            self._count["clears"] += 1
        dropped.clear()

    def limit(self, max_entries: int, max_bytes: int) -> None:
        """Sets the bounds and applies them."""
        with self._lock:
            self._max_entries, self._max_bytes = max_entries, max_bytes
            dropped = self._shrink()
        dropped.clear()

    def _bytes(self) -> int:
        return sum(entry.nbytes for entry in self._entries.values())

    def _shrink(self) -> list[_Entry]:
        dropped = []
        while len(self._entries) > self._max_entries or self._bytes() > self._max_bytes:
            dropped.append(self._entries.popitem(last=False)[1])
            self._count["evictions"] += 1
        return dropped

    def _refuse_circle(self, owner: str, key: Hashable) -> None:
        """Follows who waits for whom; with this thread at the end nobody would wake."""
        making = self._making.get(key)
        while making is not None:
            if making.thread == threading.get_ident():
                raise SessionError(
                    f"{owner}: resource {key!r} is needed to initialise itself. Make "
                    "what its initialiser needs in the initialiser."
                )
            if making.thread not in self._waiting:
                return
            making = self._making.get(self._waiting[making.thread])


def _nbytes(value: Any) -> int:
    size = getattr(value, "nbytes", None)
    return int(size) if isinstance(size, int) else sys.getsizeof(value, 0)


_lock = threading.Lock()
_caches: dict[str, ResourceCache] = {}
_limits = (MAX_ENTRIES, MAX_BYTES)


def cache_of(device: str) -> ResourceCache:
    """The cache of one device, such as `cuda:0`."""
    with _lock:
        if device not in _caches:
            _caches[device] = ResourceCache(*_limits)
        return _caches[device]


def _all() -> dict[str, ResourceCache]:
    with _lock:
        return dict(_caches)


def resource_stats() -> dict[str, ResourceStats]:
    """Returns the counters of each device that a live op kept something for."""
    return {device: cache.stats() for device, cache in _all().items()}


def clear_resources() -> None:
    """Drops what live ops have kept, on every device."""
    for cache in _all().values():
        cache.clear()


def set_resource_limits(
    max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES
) -> None:
    """Bounds what live ops may keep, per device; drops the rest at once.

    Args:
      max_entries: Values at most.
      max_bytes: The sum of their `nbytes` at most. A larger value is not kept.

    Raises:
      ValidationError: One of them is negative.
    """
    global _limits
    if min(max_entries, max_bytes) < 0:
        raise ValidationError(
            f"set_resource_limits: max_entries={max_entries}, max_bytes={max_bytes}; "
            "neither can be negative."
        )
    with _lock:
        _limits = (max_entries, max_bytes)
    for cache in _all().values():
        cache.limit(max_entries, max_bytes)
