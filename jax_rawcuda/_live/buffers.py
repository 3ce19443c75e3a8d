"""LiveBuffer: memory that a live session knows the address of, and views of it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from .._session.refs import Buffer, Ref, is_whole, offset_of
from .._session.uses import check_use
from .._session.views import View

_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def address_of(source: Any) -> int:
    """Reads the address out of a DLPack capsule, whose first field it is.

    The CUDA array interface would do, were it there on the CPU and for every dtype.
    """
    capsule = source.__dlpack__()
    tensor = _get_pointer(capsule, b"dltensor")
    return ctypes.c_void_p.from_address(tensor).value or 0


@dataclass(eq=False, slots=True)
class LiveBuffer(Buffer):
    """A buffer whose memory exists.

    Attributes:
      address: Of its first byte.
      ordinal: Of the CUDA device, None for host memory.
      owner: Of the memory, kept alive.
      array: XLA's buffer, if it is one.
    """

    address: int = 0
    ordinal: int | None = None
    owner: Any = None
    array: Any = None

    def view(self, ref: Ref) -> View:
        """Where `ref` is in memory. What may write there counts as having written."""
        check_use(self.session, ref)
        self.written |= ref.writable
        return View(
            f"{self.session.op_name}: '{self.name}'",
            self.address + offset_of(ref),
            ref.shape,
            ref.dtype,
            ref.writable,
            self.ordinal,
            self.array if is_whole(ref) else None,
        )


def live(buffer: Buffer) -> LiveBuffer:
    """The buffer, of a live session, as what it is."""
    if not isinstance(buffer, LiveBuffer):
        raise TypeError(f"buffer '{buffer.name}' is not live")
    return buffer
