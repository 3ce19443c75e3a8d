"""LiveDevice: memory, stream and context of the device that a live session runs on."""

from __future__ import annotations

import weakref
from typing import Any, Self

import numpy as np

from .._base.errors import BackendError
from .._device.driver import call_driver, device_context
from .._session.views import host_array

_ALIGNMENT = 256  # bytes; the most that alloc_bytes may be asked for


class HostDevice:
    """The CPU, where every command has ended when it returns."""

    platform = "cpu"
    ordinal: int | None = None
    stream = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def allocate(self, nbytes: int) -> tuple[int, Any]:
        """Returns the address of new memory and the object that owns it."""
        owner = np.empty(nbytes + _ALIGNMENT, np.uint8)
        address = int(owner.ctypes.data)
        return address + -address % _ALIGNMENT, owner

    def upload(self, address: int, data: np.ndarray) -> None:
        """Copies a dense array to an address."""
        host_array(address, data.shape, data.dtype, writable=True)[...] = data

    def download(
        self, address: int, shape: tuple[int, ...], dtype: np.dtype
    ) -> np.ndarray:
        """Returns a copy of memory."""
        return host_array(address, shape, dtype, writable=False).copy()

    def retain(self, address: int, nbytes: int) -> tuple[int, Any]:
        """Copies memory to an allocation that lives as long as its owner."""
        copy, owner = self.allocate(nbytes)
        self.upload(copy, self.download(address, (nbytes,), np.dtype(np.uint8)))
        return copy, owner


class CudaDevice:
    """A CUDA device, its context current in this thread between enter and exit.

    Attributes:
      stream: The handle of XLA's stream.
      ordinal: The device's number in this process; -1 before it is entered.
    """

    platform = "cuda"

    def __init__(self, op_name: str, stream: int) -> None:
        self.stream = stream
        self.ordinal = -1
        self._op_name = op_name
        self._previous: Any = None
        self._workspaces: list[int] = []

    def __enter__(self) -> Self:
        self._previous = self._call("cuCtxGetCurrent")
        self._call("cuCtxSetCurrent", self._call("cuStreamGetCtx", self.stream))
        self.ordinal = int(self._call("cuCtxGetDevice"))
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        try:
            # In the stream's order: after all that the session has started.
            while self._workspaces:
                self._call("cuMemFreeAsync", self._workspaces.pop(), self.stream)
        except BackendError:
            if error is None:  # else the first error says more
                raise
        finally:
            self._call("cuCtxSetCurrent", self._previous)

    def allocate(self, nbytes: int) -> tuple[int, Any]:
        """Returns the address of memory that is freed when the session ends."""
        if not nbytes:
            return 0, None
        address = int(self._call("cuMemAllocAsync", nbytes, self.stream))
        self._workspaces.append(address)
        return address, None

    def upload(self, address: int, data: np.ndarray) -> None:
        """Copies a dense array to an address; the array may be dropped at once."""
        if data.nbytes:
            host = int(data.ctypes.data)
            self._call("cuMemcpyHtoDAsync", address, host, data.nbytes, self.stream)

    def download(
        self, address: int, shape: tuple[int, ...], dtype: np.dtype
    ) -> np.ndarray:
        """Waits for the stream; returns a copy of memory."""
        array = np.empty(shape, dtype)
        if array.nbytes:
            host = int(array.ctypes.data)
            self._call("cuMemcpyDtoHAsync", host, address, array.nbytes, self.stream)
        self._call("cuStreamSynchronize", self.stream)
        return array

    def retain(self, address: int, nbytes: int) -> tuple[int, Any]:
        """Copies memory to an allocation that lives as long as its owner."""
        owner = CudaAllocation(self._op_name, self.ordinal, nbytes)
        if nbytes:
            self._call("cuMemcpyDtoDAsync", owner.address, address, nbytes, self.stream)
        return owner.address, owner

    def _call(self, function: str, *arguments: Any) -> Any:
        return call_driver(self._op_name, function, *arguments)


LiveDevice = HostDevice | CudaDevice


class CudaAllocation:
    """Device memory that is freed with the object.

    Not from a stream-ordered pool: the driver waits for pending work before it frees
    this kind, whichever stream that work is on.
    """

    def __init__(self, owner: str, ordinal: int, nbytes: int) -> None:
        self.address = int(call_driver(owner, "cuMemAlloc", max(nbytes, 1)))
        free = weakref.finalize(self, _free, owner, ordinal, self.address)
        free.atexit = False  # by then the driver may be gone, and all memory with it


def _free(owner: str, ordinal: int, address: int) -> None:
    with device_context(owner, ordinal):
        call_driver(owner, "cuMemFree", address)
