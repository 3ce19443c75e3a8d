"""DiskCache: checked files by key, never trusted, never in the way of a compile."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import tempfile
import threading
import zlib
from pathlib import Path

_MAGIC = b"JRCCACH1"
_NAME = re.compile(r"\.?(?P<key>[0-9a-f]{64})\.[a-z-]+(?:\.\w+)?")
_HEADER = len(_MAGIC) + hashlib.sha256().digest_size


class DiskCache:
    """One file per key under `root`; oldest use goes first when `max_bytes` is passed.

    Every failure of the file system reads as "not here": a read-only, full or vanished
    directory costs a compilation, not an error. Processes share a directory without
    locks, because a file appears whole (rename) and proves its contents (SHA-256).

    Attributes:
      corrupt: Files found damaged, and removed.
      evictions: Files removed to keep `max_bytes`.
      failures: Writes that the file system refused.
    """

    def __init__(self, root: Path, max_bytes: int) -> None:
        self.root = root
        self.max_bytes = max_bytes
        self.corrupt = 0
        self.evictions = 0
        self.failures = 0
        self._lock = threading.Lock()
        self._stored_bytes: int | None = None  # an estimate; other processes write too

    def read(self, kind: str, key: str) -> bytes | None:
        """Returns what was written under `key`; a damaged file is removed."""
        path = self._path(kind, key)
        try:
            stored = path.read_bytes()
        except OSError:
            return None
        payload = _unpack(stored)
        if payload is None:
            self.corrupt += 1
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # eviction goes by last use
        return payload

    def write(self, kind: str, key: str, payload: bytes) -> bool:
        """Stores `payload` under `key`. Returns whether the file system took it."""
        path = self._path(kind, key)
        stored = _pack(payload)
        temporary = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(
                prefix=f".{path.name}.", dir=path.parent
            )
            with os.fdopen(descriptor, "wb") as file:
                file.write(stored)
            os.replace(temporary, path)  # noqa: PTH105
        except OSError:
            self.failures += 1
            if temporary is not None:
                with contextlib.suppress(OSError):
                    Path(temporary).unlink()
            return False
        self._keep_bound(len(stored))
        return True

    def clear(self) -> None:
        """Removes every file that is ours; the directory may hold others."""
        with self._lock:
            for path, _ in self._files():
                with contextlib.suppress(OSError):
                    path.unlink()
            self._stored_bytes = None

    def usage(self) -> tuple[int, int]:
        """Returns the number of files and their bytes."""
        sizes = [status.st_size for _, status in self._files()]
        return len(sizes), sum(sizes)

    def _path(self, kind: str, key: str) -> Path:
        return self.root / key[:2] / f"{key}.{kind}"

    def _files(self) -> list[tuple[Path, os.stat_result]]:
        """The files that have a name of ours, among them writes that never ended."""
        found = []
        with contextlib.suppress(OSError):
            for path in self.root.glob("[0-9a-f][0-9a-f]/*"):
                name = _NAME.fullmatch(path.name)
                if name is None or not name["key"].startswith(path.parent.name):
                    continue
                with contextlib.suppress(OSError):
                    status = path.lstat()
                    if stat.S_ISREG(status.st_mode):
                        found.append((path, status))
        return found

    def _keep_bound(self, added: int) -> None:
        with self._lock:
            if self._stored_bytes is not None:
                self._stored_bytes += added
                if self._stored_bytes <= self.max_bytes:
                    return
            files = sorted(self._files(), key=lambda item: item[1].st_mtime_ns)
            total = sum(status.st_size for _, status in files)
            # Down to 7/8, so that a full cache does not scan on each write.
            goal = (
                self.max_bytes if total <= self.max_bytes else self.max_bytes * 7 // 8
            )
            for path, status in files:
                if total <= goal:
                    break
                with contextlib.suppress(OSError):
                    path.unlink()
                    self.evictions += 1
                total -= status.st_size
            self._stored_bytes = total


def _pack(payload: bytes) -> bytes:
    body = zlib.compress(payload, 1)
    return _MAGIC + hashlib.sha256(body).digest() + body


def _unpack(stored: bytes) -> bytes | None:
    digest, body = stored[len(_MAGIC) : _HEADER], stored[_HEADER:]
    if not stored.startswith(_MAGIC) or hashlib.sha256(body).digest() != digest:
        return None
    return zlib.decompress(body)
