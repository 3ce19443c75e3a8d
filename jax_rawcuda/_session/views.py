"""A live reference as memory that NumPy and CuPy read."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base.errors import UnsupportedError

_CPU, _CUDA = 1, 2  # DLPack's device types


@dataclass(frozen=True, slots=True)
class View:
    """A span of memory, for other libraries.

    Attributes:
      name: For messages.
      address: Of the first byte.
      shape: Extents, dense and row-major.
      dtype: Of the elements.
      writable: Whether it may be written to.
      ordinal: Of the CUDA device, None for host memory.
      array: XLA's buffer, if the span is all of one.
    """

    name: str
    address: int
    shape: tuple[int, ...]
    dtype: np.dtype
    writable: bool
    ordinal: int | None
    array: Any

    def numpy(self) -> np.ndarray:
        """The same memory as a NumPy array; host memory only."""
        if self.ordinal is not None:
            raise UnsupportedError(
                f"{self.name} is in device memory, which NumPy cannot read. Use "
                "s.download_tensor(ref)."
            )
        return host_array(self.address, self.shape, self.dtype, self.writable)

    def cuda_array_interface(self) -> dict[str, object]:
        """The CUDA array interface, version 3.

        It names no stream: consumers would make the host wait for that one. Work on the
        memory belongs on the session's own.
        """
        if self.ordinal is None:
            # hasattr must say no: consumers choose by it.
            raise AttributeError(f"{self.name} is in host memory, not on a CUDA device")
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, not self.writable),
            "version": 3,
        }

    def dlpack(self, **options: Any) -> Any:
        """A DLPack capsule: of whole arrays, or of host memory."""
        if self.array is not None:
            return self.array.__dlpack__(**options)
        if self.ordinal is None:
            return self.numpy().__dlpack__(**options)
        raise UnsupportedError(
            f"{self.name} is a part of an array or a workspace, which has no DLPack "
            "form here. Use its __cuda_array_interface__."
        )

    def dlpack_device(self) -> tuple[int, int]:
        """DLPack's device type and number."""
        return (_CPU, 0) if self.ordinal is None else (_CUDA, self.ordinal)


def host_array(
    address: int, shape: tuple[int, ...], dtype: np.dtype, writable: bool
) -> np.ndarray:
    """Makes an array over memory at an address. Nothing keeps the memory alive."""
    nbytes = math.prod(shape) * dtype.itemsize
    if not nbytes:
        return np.empty(shape, dtype)
    memory = (ctypes.c_char * nbytes).from_address(address)
    array = np.frombuffer(memory, np.uint8).view(dtype).reshape(shape)
    array.flags.writeable = writable
    return array
