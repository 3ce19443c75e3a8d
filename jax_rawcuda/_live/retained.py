"""RetainedTensor: a copy of an array that outlives the live op it was made in."""

from __future__ import annotations

from typing import Any, NoReturn, SupportsIndex

import numpy as np

from .._base.errors import SessionError
from .._device.driver import call_driver, device_context
from .._session.views import View


class RetainedTensor:
    """Device memory of its own, with what an array held when it was copied.

    XLA owns the arrays that a live op sees and reuses their memory after it, so keeping
    one means copying it. The memory is freed with the last reference to this object,
    or by `close`. Give it to `LiveSession.tensor` to use it in a later live op, or to
    other libraries: on a GPU their work must come after the stream that copied it.

    Attributes:
      shape: Extents.
      dtype: Of the elements.
      ordinal: Of the CUDA device, None in host memory.
    """

    def __init__(
        self,
        address: int,
        owner: Any,
        shape: tuple[int, ...],
        dtype: np.dtype,
        ordinal: int | None,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.ordinal = ordinal
        self._address = address
        self._owner = owner

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def numpy(self) -> np.ndarray:
        """Waits for the device; returns a copy in host memory."""
        view = self._view()
        if view.ordinal is None:
            return view.numpy().copy()
        array = np.empty(self.shape, self.dtype)
        with device_context(view.name, view.ordinal):
            call_driver(view.name, "cuCtxSynchronize")
            if array.nbytes:
                host = int(array.ctypes.data)
                call_driver(view.name, "cuMemcpyDtoH", host, view.address, array.nbytes)
        return array

    def unsafe_raw_ptr(self) -> int:
        """Returns the address, valid as long as this object. Nothing checks its use."""
        return self._view().address

    def close(self) -> None:
        """Lets go of the memory; later use is an error."""
        self._owner = None

    def memory(self) -> tuple[int, Any]:
        """Returns the address, and the owner that keeps it valid.

        Raises:
          SessionError: It was closed.
        """
        if self._owner is None:
            raise SessionError("RetainedTensor: used after close(). Retain it again.")
        return self._address, self._owner

    def _view(self) -> View:
        address, _ = self.memory()
        return View(
            "RetainedTensor",
            address,
            self.shape,
            self.dtype,
            writable=True,
            ordinal=self.ordinal,
            array=None,
        )

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return self._view().cuda_array_interface()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("RetainedTensor: NumPy can only have a copy of it.")
        return np.asarray(self.numpy(), dtype)

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise SessionError(
            "RetainedTensor: it cannot be copied or pickled. Use its numpy()."
        )

    def __repr__(self) -> str:
        shape = ",".join(map(str, self.shape))
        state = ", closed" if self._owner is None else ""
        return f"RetainedTensor({self.dtype}[{shape}]{state})"
