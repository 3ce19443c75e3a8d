"""What the handler asks of Python: checks, inflated images, host kernels."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..cpu import HostKernel


def verify(plan: bytes, images: bytes, digest: str) -> None:
    """Checks that the attributes of a program are those that were written.

    Args:
      plan: The encoded plan.
      images: The compressed module images.
      digest: SHA-256 of both, in hex.

    Raises:
      ValueError: One of the three is damaged.
    """
    found = hashlib.sha256(plan + images).hexdigest()
    if found != digest:
        raise ValueError(
            f"the program is damaged: the SHA-256 of its plan is {found}, not the "
            f"{digest} that stands beside it. Export or compile it again."
        )


def inflate(stored: bytes, digest: bytes) -> bytes:
    """Decompresses a module image and checks that it is the one meant.

    Args:
      stored: The image, compressed by zlib.
      digest: SHA-256 of the image.

    Raises:
      ValueError: `stored` is damaged.
    """
    try:
        raw = zlib.decompress(stored)
    except zlib.error as error:
        raise ValueError(f"the compressed image is damaged ({error})") from error
    if hashlib.sha256(raw).digest() != digest:
        raise ValueError(f"the image's SHA-256 is not {digest.hex()}")
    return raw


def load_host_kernel(
    ptx: bytes, kernel: str, variables: Mapping[str, bytes], checked: bool
) -> HostKernel:
    """Compiles one kernel of a PTX text for the CPU.

    Args:
      ptx: The text, in UTF-8.
      kernel: The kernel's lowered name.
      variables: First values of the module's variables, by symbol.
      checked: Whether the code asks before each access.
    """
    from ..cpu import load_kernel

    return load_kernel(ptx.decode(), kernel, variables, checked=checked)
