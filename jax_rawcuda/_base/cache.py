"""A cache of compiled bytes by content: bounded memory in front of a checked disk."""

from __future__ import annotations

import dataclasses
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable

from . import settings
from .disk_cache import DiskCache

# Part of every key: raise it when the meaning of stored bytes changes.
LAYOUT = 1

_MAX_ENTRIES = 512
_MAX_BYTES = 256 << 20


@dataclasses.dataclass(frozen=True, slots=True)
class CacheStats:
    """Counters since the process started, and what is held now.

    Attributes:
      entries: Results held in memory.
      bytes: Their size.
      hits: Look-ups answered from memory.
      misses: Look-ups that memory could not answer.
      compiles: Compilations, of any kind, that ran and succeeded.
      evictions: Results dropped from memory to keep its bound.
      clears: Calls of `clear_caches`.
      disk_dir: The directory in use, None when there is none.
      disk_hits: Misses answered from disk.
      disk_writes: Results written to disk.
      disk_failures: Results the file system refused.
      disk_evictions: Files removed to keep the size bound.
      disk_corrupt: Damaged files found and removed.
    """

    entries: int = 0
    bytes: int = 0
    hits: int = 0
    misses: int = 0
    compiles: int = 0
    evictions: int = 0
    clears: int = 0
    disk_dir: str | None = None
    disk_hits: int = 0
    disk_writes: int = 0
    disk_failures: int = 0
    disk_evictions: int = 0
    disk_corrupt: int = 0


def fingerprint(*parts: str | bytes) -> str:
    """Returns the SHA-256, in hex, of the parts; ("ab", "c") and ("a", "bc") differ."""
    digest = hashlib.sha256(b"%d" % LAYOUT)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()


class CompileCache:
    """Bytes by key. Thread safe; each key is made once, keys do not wait on another."""

    def __init__(
        self, max_entries: int = _MAX_ENTRIES, max_bytes: int = _MAX_BYTES
    ) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._lock = threading.Lock()  # guards the fields below, held for moments
        self._entries: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._bytes = 0
        self._making: dict[tuple[str, str], threading.Lock] = {}
        self._count = dict.fromkeys(
            ("hits", "misses", "compiles", "evictions", "clears"), 0
        )
        self._disk_count = {"disk_hits": 0, "disk_writes": 0}
        self._disk: DiskCache | None = None

    def lookup(self, kind: str, key: str, make: Callable[[], bytes]) -> bytes:
        """Returns the bytes kept under `key`, or makes and keeps them."""
        entry = (kind, key)
        with self._lock:
            if (value := self._hit(entry)) is not None:
                return value
            making = self._making.setdefault(entry, threading.Lock())
        with making:
            with self._lock:
                if (value := self._hit(entry)) is not None:  # another thread made it
                    return value
                self._count["misses"] += 1
                disk = self._open_disk()
            try:
                value = self._fetch_or_make(disk, kind, key, make)
            finally:
                with self._lock:
                    self._making.pop(entry, None)
        return value

    def stats(self) -> CacheStats:
        """Returns the counters."""
        with self._lock:
            disk = self._open_disk()
            return CacheStats(
                entries=len(self._entries),
                bytes=self._bytes,
                **self._count,
                **self._disk_count,
                disk_dir=str(disk.root) if disk else None,
                disk_failures=disk.failures if disk else 0,
                disk_evictions=disk.evictions if disk else 0,
                disk_corrupt=disk.corrupt if disk else 0,
            )

    def clear(self, *, disk: bool = False) -> None:
        """Forgets what is in memory, and with `disk` removes the files too."""
        with self._lock:
            self._entries.clear()
            self._bytes = 0
            self._count["clears"] += 1
            store = self._open_disk() if disk else None
        if store is not None:
            store.clear()

    def _hit(self, entry: tuple[str, str]) -> bytes | None:
        value = self._entries.get(entry)
        if value is not None:
            self._entries.move_to_end(entry)
            self._count["hits"] += 1
        return value

    def _fetch_or_make(
        self, disk: DiskCache | None, kind: str, key: str, make: Callable[[], bytes]
    ) -> bytes:
        value = disk.read(kind, key) if disk else None
        if value is not None:
            with self._lock:
                self._disk_count["disk_hits"] += 1
                self._keep((kind, key), value)
            return value
        value = make()
        written = disk.write(kind, key, value) if disk else False
        with self._lock:
            self._count["compiles"] += 1
            self._disk_count["disk_writes"] += written
            self._keep((kind, key), value)
        return value

    def _keep(self, entry: tuple[str, str], value: bytes) -> None:
        if len(value) > self._max_bytes:
            return
        self._bytes += len(value) - len(self._entries.pop(entry, b""))
        self._entries[entry] = value
        while len(self._entries) > self._max_entries or self._bytes > self._max_bytes:
            _, dropped = self._entries.popitem(last=False)
            self._bytes -= len(dropped)
            self._count["evictions"] += 1

    def _open_disk(self) -> DiskCache | None:
        """The disk cache of the environment as it stands now: a test may change it."""
        root = settings.cache_dir()
        if root is None:
            return None
        max_bytes = settings.cache_max_bytes()
        disk = self._disk
        if disk is None or (disk.root, disk.max_bytes) != (root, max_bytes):
            disk = self._disk = DiskCache(root, max_bytes)
        return disk


_cache = CompileCache()


def lookup(kind: str, key: str, make: Callable[[], bytes]) -> bytes:
    """Returns the bytes kept under `key`, or makes and keeps them.

    Args:
      kind: What the bytes are, such as `nvrtc` or `host`; ends the file's name.
      key: A `fingerprint` of all that `make` reads.
      make: Runs once per key in this process, without a lock that other keys need.
        When it raises, nothing is kept and the error goes to the caller.

    Returns:
      What `make` returned, now or in an earlier process.
    """
    return _cache.lookup(kind, key, make)


def cache_stats() -> CacheStats:
    """Returns the compile cache's counters."""
    return _cache.stats()


def clear_caches(*, disk: bool = False) -> None:
    """Forgets compiled results.

    Args:
      disk: Those in files too, not only those in memory.
    """
    _cache.clear(disk=disk)
