"""LiveSession: a session while the compiled program runs, with real memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from .._base.errors import (
    SessionError,
    SignatureError,
    UnsupportedError,
    ValidationError,
)
from .._plan.commands import BufferRef, Command, Space
from .._session.refs import BufferKind, Output, Ref, TensorMut, TensorRef, buffer_of
from .._session.scope import check_open
from .._session.session import Session
from .._session.stream import StreamRef
from .._session.uses import check_use
from .._types.arrays import ArrayType, check_operand
from .buffers import LiveBuffer, live
from .device import LiveDevice
from .program import run_command
from .resources import cache_of
from .retained import RetainedTensor


class LiveSession(Session):
    """A session whose commands run at once, on XLA's stream.

    Handed out by `rc.live_op`, valid until the function returns. All that a Session
    records works here too, immediately; `alloc_output` and `alloc_bytes` give memory
    that lasts as long as the session. On a GPU the device's context is current in the
    function, and the one before is restored after it.
    """

    _maker = "live_op"
    _shown = "LiveSession"
    _thread_rule = "runs the op. Use it from that thread."
    _device: LiveDevice
    _checked: bool

    def __repr__(self) -> str:
        state = "open" if self._open else "closed"
        return f"<live session {self.op_name} on {self._place}: {state}>"

    @property
    def platform(self) -> str:
        """Where it runs: `cpu` or `cuda`."""
        check_open(self)
        return self._device.platform

    def stream(self) -> LiveStreamRef:
        """XLA's stream, on which all work of the op belongs."""
        check_open(self)
        return LiveStreamRef(self)

    # Memory

    def tensor(self, array: Any, *, name: str | None = None) -> TensorRef:
        """Takes more data: a RetainedTensor as it is, or a copy of a NumPy array.

        Args:
          array: Either of them.
          name: For messages.

        Returns:
          A read-only reference.

        Raises:
          SessionError: It is a JAX array, which only the op itself can take.
        """
        check_open(self)
        name = name or f"operand{len(self.operands)}"
        if isinstance(array, RetainedTensor):
            buffer = self._adopt(array, BufferKind.OPERAND, name)
        elif isinstance(array, np.ndarray | np.generic):
            owner = f"{self.op_name}: operand '{name}'"
            data = np.ascontiguousarray(check_operand(owner, array)[0])
            data = data.reshape(np.shape(array))
            buffer = self._allocate(BufferKind.WORKSPACE, name, data.shape, data.dtype)
            self._device.upload(buffer.address, data)
            buffer.written = True
        else:
            raise SessionError(
                f"{self.op_name}: operand '{name}' is {type(array).__name__}; a live "
                "session takes NumPy arrays and RetainedTensors. Pass JAX arrays to "
                "the op."
            )
        return TensorRef(buffer, buffer.shape, buffer.dtype)

    def tensor_mut(self, ref: Ref | RetainedTensor) -> Ref:
        """Uses a RetainedTensor in place; returns a writable reference as it is.

        Args:
          ref: Either of them.

        Raises:
          SessionError: An operand that was not declared in `in_out=`.
        """
        check_open(self)
        if isinstance(ref, RetainedTensor):
            buffer = self._adopt(ref, BufferKind.RESULT, f"retained{len(self.buffers)}")
            return TensorMut(buffer, buffer.shape, buffer.dtype)
        check_use(self, ref)
        if ref.writable:
            return ref
        raise SessionError(
            f"{self.op_name}: {ref!r} is read only while the op runs. Name the "
            "argument in in_out= of rc.live_op."
        )

    def upload(self, data: np.ndarray) -> Output:
        """Copies a NumPy array to memory that lasts as long as the session.

        Args:
          data: The array.

        Returns:
          A writable reference.
        """
        ref = self.tensor(data)
        return Output(buffer_of(ref), ref.shape, ref.dtype)

    def download_tensor(self, ref: Ref) -> np.ndarray:
        """Waits for the stream; returns a copy in host memory.

        Args:
          ref: What to copy.

        Raises:
          ValidationError: Nothing has written it yet.
        """
        address = self._read(ref, "download_tensor")
        return self._device.download(address, ref.shape, ref.dtype)

    def retain_tensor(self, ref: Ref) -> RetainedTensor:
        """Copies an array, in the stream's order, to memory that outlives the op.

        Args:
          ref: What to copy.

        Returns:
          The copy, for later live ops or other libraries.

        Raises:
          ValidationError: Nothing has written it yet.
        """
        address = self._read(ref, "retain_tensor")
        copy, owner = self._device.retain(address, ref.byte_len)
        return RetainedTensor(copy, owner, ref.shape, ref.dtype, self._device.ordinal)

    def resource(self, key: Hashable, init: Callable[[], Any]) -> Any:
        """Returns what is kept under a key on this device, or makes it.

        Kept are at most 16 values of 64 MiB together, by their `nbytes`; the least
        recently used is dropped (see `rc.set_resource_limits`). Several threads may get
        the same value: where that is not safe, put the stream's handle into the key.

        Args:
          key: Any hashable value.
          init: Makes the value. When it raises, nothing is kept.

        Raises:
          SignatureError: The key is not hashable.
          SessionError: `init` needs the value that it makes.
        """
        check_open(self)
        try:
            hash(key)
        except TypeError:
            raise SignatureError(
                f"{self.op_name}: resource key {key!r} is not hashable. Use a string "
                "or a tuple."
            ) from None
        return cache_of(self._place).get(self.op_name, key, init)

    # Inner parts

    def _list(
        self,
        kind: BufferKind,
        name: str,
        shape: tuple[int, ...],
        dtype: np.dtype,
        address: int,
        owner: Any,
        written: bool,
        array: Any = None,
    ) -> LiveBuffer:
        """Lists memory at `address` as a buffer of the session.

        The session keeps the owner alive; `array` is XLA's buffer, if it is one.
        """
        operand = kind is BufferKind.OPERAND
        index = len(self.operands) if operand else len(self.buffers)
        buffer = LiveBuffer(
            self,
            kind,
            index,
            name,
            shape,
            dtype,
            written,
            address=address,
            ordinal=self._device.ordinal,
            owner=owner,
            array=array,
        )
        if operand:
            self.operands.append((buffer, owner))
        else:
            self.buffers.append(buffer)
        return buffer

    @property
    def _place(self) -> str:
        return f"{self._device.platform}:{self._device.ordinal or 0}"

    def _emit(self, command: Command) -> None:
        run_command(self.op_name, command, self._device, self._find, self._checked)

    def _find(self, ref: BufferRef) -> LiveBuffer:
        operand = ref.space is Space.OPERAND
        return live(self.operands[ref.index][0] if operand else self.buffers[ref.index])

    def _allocate(
        self,
        kind: BufferKind,
        name: str,
        shape: tuple[int, ...],
        dtype: np.dtype,
        written: bool = False,
    ) -> LiveBuffer:
        nbytes = ArrayType(shape, dtype).nbytes
        address, owner = self._device.allocate(nbytes)
        return self._list(kind, name, shape, dtype, address, owner, written)

    def _adopt(self, tensor: RetainedTensor, kind: BufferKind, name: str) -> LiveBuffer:
        if tensor.ordinal != self._device.ordinal:
            raise SessionError(
                f"{self.op_name}: {tensor!r} is on another device than the session, "
                f"{self._place}. Retain it there."
            )
        address, owner = tensor.memory()
        return self._list(
            kind, name, tensor.shape, tensor.dtype, address, owner, written=True
        )

    def _full(self, ref: Output, value: Any) -> np.ndarray:
        return np.full(ref.shape, value, ref.dtype)

    def _read(self, ref: Ref, what: str) -> int:
        check_use(self, ref)
        buffer = buffer_of(ref)
        if ref.size and not buffer.written:
            raise ValidationError(
                f"{self.op_name}: {what}: nothing has written '{buffer.name}' yet."
            )
        return buffer.view(ref).address


class LiveStreamRef(StreamRef):
    """XLA's stream while the op runs."""

    __slots__ = ()

    def unsafe_raw_handle(self) -> int:
        """Returns the `CUstream`, valid until the live op returns.

        Raises:
          UnsupportedError: On the CPU, which has no stream.
        """
        session = self._scope
        check_open(session)
        if not isinstance(session, LiveSession) or session._device.platform == "cpu":
            raise UnsupportedError(
                f"{session.op_name}: the CPU has no stream; what a live op starts "
                'there has ended when it returns. Ask s.platform == "cuda" first.'
            )
        return session._device.stream

    def __cuda_stream__(self) -> tuple[int, int]:
        """The protocol of cuda.core and others: version and handle."""
        return 0, self.unsafe_raw_handle()


def open_live_session(op_name: str, device: LiveDevice, checked: bool) -> LiveSession:
    """Starts a session in this thread, on a device that has been entered."""
    session = object.__new__(LiveSession)
    session._enter(op_name)
    session._device = device
    session._checked = checked and device.platform == "cpu"
    return session
