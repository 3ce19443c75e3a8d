"""Session: records launches, copies and fills while an op is traced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ._binding import bind_arguments, check_count, check_threads
from ._errors import SessionError, SignatureError, ValidationError
from ._launch import LaunchConfig
from ._module import Function, compile_nvrtc, load_cubin, load_ptx
from ._operands import check_dtype, check_operand
from ._plan import ArrayType, Command, Copy, Fill, Launch, Synchronize
from ._refs import (
    Buffer,
    BufferKind,
    ConstantBytes,
    DeviceBytes,
    Output,
    Ref,
    TensorMut,
    TensorRef,
    buffer_of,
    is_whole,
    offset_of,
    place,
)
from ._runtime import RuntimeIdentity, runtime_identity
from ._scalars import pack_value
from ._scope import Scope, StreamRef, check_span
from ._spans import extents, positive_size

MAX_ALIGNMENT = 256  # bytes; XLA chooses the addresses, nothing here can raise it


class Session(Scope):
    """What an op records. Handed out by `rc.op`, valid until the op returns.

    Nothing here touches a device: methods append to a plan, which XLA runs later.
    """

    commands: list[Command]
    operands: list[tuple[Buffer, Any]]
    buffers: list[Buffer]  # results and workspaces

    def __repr__(self) -> str:
        state = "open" if self._open else "closed"
        return f"<session {self.op_name}: {len(self.commands)} commands, {state}>"

    # Memory

    def tensor(self, array: Any, *, name: str | None = None) -> TensorRef:
        """Takes one more array as an operand, such as one the op closes over.

        Args:
          array: A JAX or NumPy array.
          name: For messages.
        """
        self._check_open()
        name = name or f"operand{len(self.operands)}"
        array, type_ = check_operand(f"{self.op_name}: operand '{name}'", array)
        buffer = Buffer(
            self,
            BufferKind.OPERAND,
            len(self.operands),
            name,
            type_.shape,
            type_.dtype,
            written=True,
        )
        self.operands.append((buffer, array))
        return TensorRef(buffer, type_.shape, type_.dtype)

    def tensor_mut(self, ref: Ref) -> Ref:
        """Uses an operand in place; return the result to give the new value.

        XLA copies the operand first if its old value is still needed.

        Args:
          ref: A whole operand, of which only the returned reference may be used
            afterwards; or anything that is writable already, which comes back.
        """
        self._check_use(ref)
        if ref.writable:
            return ref
        if not isinstance(ref, TensorRef) or not is_whole(ref):
            raise SessionError(
                f"{self.op_name}: tensor_mut needs a whole operand, got {ref!r}."
            )
        operand = buffer_of(ref)
        buffer = self._allocate(
            BufferKind.RESULT, operand.name, ref.shape, ref.dtype, written=True
        )
        operand.in_place = TensorMut(buffer, ref.shape, ref.dtype)
        return operand.in_place

    def alloc_output(
        self, shape: int | Sequence[int], dtype: Any, fill: Any = None
    ) -> Output:
        """Allocates a new array to write to and to return.

        Args:
          shape: Its shape.
          dtype: Its dtype.
          fill: A number that every element has at first; undefined without it.
        """
        self._check_open()
        name = f"output{len(self.buffers)}"
        owner = f"{self.op_name}: result '{name}'"
        type_ = ArrayType(extents(owner, shape), np.dtype(dtype))
        check_dtype(owner, type_.dtype)
        buffer = self._allocate(BufferKind.RESULT, name, type_.shape, type_.dtype)
        ref = Output(buffer, type_.shape, type_.dtype)
        if fill is not None:
            self._fill_elements(ref, pack_value(owner, type_.dtype, fill), fill)
        return ref

    def alloc_bytes(
        self, nbytes: int, align: int = 256, fill: int | None = None
    ) -> DeviceBytes:
        """Allocates workspace that lives as long as the op runs.

        XLA plans it with its own temporary memory. With `vmap`, every batch element
        uses the same workspace in turn.

        Args:
          nbytes: Its size.
          align: Alignment that kernels expect on a GPU, a power of two up to 256.
            XLA's own is what counts; on the CPU it is 64.
          fill: A byte that it is filled with; undefined without it.
        """
        self._check_open()
        owner = f"{self.op_name}: alloc_bytes"
        size = positive_size(owner, "nbytes", nbytes)
        if align < 1 or align & (align - 1) or align > MAX_ALIGNMENT:
            raise ValidationError(
                f"{owner}: align={align}; it needs a power of two up to "
                f"{MAX_ALIGNMENT}."
            )
        name = f"workspace{len(self.buffers)}"
        buffer = self._allocate(BufferKind.WORKSPACE, name, (size,), np.dtype(np.uint8))
        ref = DeviceBytes(buffer, (size,), buffer.dtype)
        if fill is not None:
            self.fill_bytes(ref, fill)
        return ref

    def upload_bytes(self, data: bytes | np.ndarray) -> DeviceBytes:
        """Makes constant bytes readable on the device, as part of the program."""
        self._check_open()
        raw = data.tobytes() if isinstance(data, np.ndarray) else bytes(data)
        constant = np.frombuffer(raw, np.uint8)
        ref = self.tensor(constant, name=f"constant{len(self.operands)}")
        return ConstantBytes(buffer_of(ref), ref.shape, ref.dtype)

    # Commands

    def launch(self, function: Function, config: LaunchConfig, *args: Any) -> None:
        """Launches a kernel.

        Args:
          function: From `Module.function`.
          config: Geometry. An empty grid launches nothing.
          *args: One per parameter: a reference (or None, a null pointer) for a
            pointer, a Python or NumPy number for a value.

        Raises:
          SignatureError: The arguments do not match the kernel's parameters.
          ValidationError: A value, a span or the geometry is out of range.
        """
        self._check_open()
        if not isinstance(function, Function) or not isinstance(config, LaunchConfig):
            raise SignatureError(
                f"{self.op_name}: launch needs (function, LaunchConfig, *args), got "
                f"({type(function).__name__}, {type(config).__name__}, ...)."
            )
        signature = function.signature
        check_count(signature, len(args))
        check_threads(function, config)
        for ref in args:
            if isinstance(ref, Ref):
                self._check_use(ref)
        arguments, written = bind_arguments(signature, args)
        if config.is_empty:
            return
        for buffer in written:
            buffer.written = True
        self.commands.append(Launch(function, config, tuple(arguments)))

    def copy_bytes(
        self, destination: Ref, source: Ref, nbytes: int | None = None
    ) -> None:
        """Copies bytes on the device.

        Args:
          destination: Where to.
          source: Where from.
          nbytes: How many; by default all, and both must have the same size.
        """
        owner = f"{self.op_name}: copy_bytes"
        self._check_writable(owner, destination)
        self._check_use(source)
        if nbytes is None and destination.byte_len != source.byte_len:
            raise ValidationError(
                f"{owner}: the destination has {destination.byte_len} bytes, the "
                f"source {source.byte_len}. Slice one of them or give nbytes=."
            )
        size = source.byte_len
        if nbytes is not None:
            size = positive_size(owner, "nbytes", nbytes)
        for what, ref in (("destination", destination), ("source", source)):
            check_span(f"{owner}: the {what}", ref, size)
        same = buffer_of(destination) is buffer_of(source)
        if same and abs(offset_of(destination) - offset_of(source)) < size:
            raise ValidationError(f"{owner}: source and destination overlap.")
        if size and not buffer_of(source).written:
            raise ValidationError(
                f"{owner}: nothing has written the source "
                f"'{buffer_of(source).name}' yet."
            )
        if size:
            buffer_of(destination).written = True
            self.commands.append(Copy(place(destination), place(source), size))

    def fill_bytes(
        self, destination: Ref, value: int, nbytes: int | None = None
    ) -> None:
        """Sets every byte of a span to `value`, 0 to 255."""
        owner = f"{self.op_name}: fill_bytes"
        self._check_writable(owner, destination)
        size = destination.byte_len
        if nbytes is not None:
            size = positive_size(owner, "nbytes", nbytes)
        check_span(f"{owner}: the destination", destination, size)
        (byte,) = pack_value(f"{owner}: value", np.dtype(np.uint8), value)
        self._fill(destination, size, bytes([byte]))

    def synchronize(self) -> None:
        """Makes the host wait, at run time, for everything recorded so far.

        A program with this command cannot become part of a CUDA graph.
        """
        self._check_open()
        self.commands.append(Synchronize())

    # Context

    @property
    def runtime_identity(self) -> RuntimeIdentity:
        """The backend that JAX would use by default."""
        self._check_open()
        return runtime_identity()

    def stream(self) -> StreamRef:
        """The stream, opaque while recording."""
        self._check_open()
        return StreamRef(self)

    compile_nvrtc = staticmethod(compile_nvrtc)
    load_ptx = staticmethod(load_ptx)
    load_cubin = staticmethod(load_cubin)

    # Inner parts

    def _allocate(
        self,
        kind: BufferKind,
        name: str,
        shape: tuple[int, ...],
        dtype: np.dtype,
        written: bool = False,
    ) -> Buffer:
        index = len(self.buffers)
        buffer = Buffer(self, kind, index, name, shape, dtype, written)
        self.buffers.append(buffer)
        return buffer

    def _fill_elements(self, ref: Output, element: bytes, value: Any) -> None:
        if len(element) > 4 and element != element[:4] * (len(element) // 4):
            # Commands repeat at most four bytes; XLA makes any other pattern.
            constant = self.tensor(jnp.full(ref.shape, value, ref.dtype))
            self.copy_bytes(ref, constant)
        else:
            self._fill(ref, ref.byte_len, element[:4])

    def _fill(self, ref: Ref, nbytes: int, pattern: bytes) -> None:
        if nbytes:
            buffer_of(ref).written = True
            value = int.from_bytes(pattern, "little")
            self.commands.append(Fill(place(ref), nbytes, len(pattern), value))


def open_session(op_name: str) -> Session:
    """Starts recording in this thread."""
    session = object.__new__(Session)
    session._enter(op_name)
    session.commands, session.operands, session.buffers = [], [], []
    return session
