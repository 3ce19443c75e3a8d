"""A cache of compiled bytes by content: bounded memory in front of a checked disk."""

from __future__ import annotations

from collections.abc import Callable


def fingerprint(*parts: str | bytes) -> str:
    """Returns the SHA-256, in hex, of the parts; ("ab", "c") and ("a", "bc") differ."""
    raise NotImplementedError


def lookup(kind: str, key: str, make: Callable[[], bytes]) -> bytes:
    """Returns the bytes kept under `key`, or makes and keeps them.

    Args:
      kind: What the bytes are, such as `nvrtc` or `host_object`; a file name suffix.
      key: A `fingerprint` of all that `make` reads.
      make: Runs once per key in this process, without a lock that other keys need.
    """
    raise NotImplementedError
