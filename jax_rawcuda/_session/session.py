"""Session: what an op uses, whether it is recorded or runs at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from .._base.errors import ValidationError
from .._base.sizes import extents, positive_size
from .._types.arrays import ArrayType, as_bytes, as_dtype, check_dtype
from .._types.dynamic import promoted
from .._types.scalars import pack_value
from .._types.signature import Parameter
from .commands import Commands
from .refs import (
    Buffer,
    BufferKind,
    ConstantBytes,
    DeviceBytes,
    Output,
    Ref,
    TensorRef,
    buffer_of,
)
from .scope import check_open
from .stream import StreamRef

MAX_ALIGNMENT = 256  # bytes


class Session(Commands):
    """Memory and commands of an op. Handed out by `rc.op`, valid until it returns.

    There, nothing touches a device: methods append to a plan, which XLA runs later. The
    session of `rc.live_op` does at once what it is asked for.
    """

    operands: list[tuple[Buffer, Any]]
    buffers: list[Buffer]  # results and workspaces
    constants: dict[bytes, Buffer]  # operands, by their bytes
    scalars: dict[tuple[int, str], tuple[jax.Array, TensorRef]]  # by identity and type

    # Memory

    def tensor(self, array: Any, *, name: str | None = None) -> TensorRef:
        """Takes one more array as an operand, such as one the op closes over.

        Args:
          array: A JAX or NumPy array.
          name: For messages.

        Returns:
          A read-only reference to it.

        Raises:
          SignatureError: Not an array, or of a dtype that kernels cannot read.
        """
        raise NotImplementedError

    def tensor_mut(self, ref: Ref) -> Ref:
        """Uses an operand in place; return the result to give the new value.

        XLA copies the operand first if its old value is still needed.

        Args:
          ref: A whole operand, of which only the returned reference may be used
            afterwards; or anything that is writable already, which comes back.

        Returns:
          A writable reference.

        Raises:
          SessionError: A part of an operand, or constant bytes.
        """
        raise NotImplementedError

    def alloc_output(
        self,
        shape: int | Sequence[int],
        dtype: Any,
        fill: Any = None,
        *,
        name: str | None = None,
    ) -> Output:
        """Allocates a new array to write to and to return.

        Args:
          shape: Its shape.
          dtype: Its dtype.
          fill: A number that every element has at first; undefined without it.
          name: For messages; that of the parameter that writes it first by default.

        Returns:
          A writable reference.

        Raises:
          SignatureError: JAX has no such dtype, or has it turned off.
          ValidationError: A negative extent, or `fill` is not exact in the dtype.
        """
        check_open(self)
        name = name or f"output{len(self.buffers)}"
        owner = f"{self.op_name}: result '{name}'"
        type_ = ArrayType(extents(owner, shape), as_dtype(owner, dtype))
        check_dtype(owner, type_.dtype, "Write that")
        buffer = self._allocate(BufferKind.RESULT, name, type_.shape, type_.dtype)
        ref = Output(buffer, type_.shape, type_.dtype)
        if fill is not None:
            self._fill_elements(ref, pack_value(owner, type_.dtype, fill), fill)
        return ref

    def alloc_bytes(
        self, nbytes: int, align: int = 256, fill: int | None = None
    ) -> DeviceBytes:
        """Allocates workspace that lives as long as the op runs.

        XLA plans it with its own temporary memory. With `vmap`, each batch element
        that runs beside others has workspace of its own.

        Args:
          nbytes: Its size.
          align: What its address is a multiple of, in bytes; a power of two up to 256.
          fill: A byte that it is filled with; undefined without it.

        Returns:
          A writable reference.

        Raises:
          ValidationError: A number is out of range.
        """
        check_open(self)
        owner = f"{self.op_name}: alloc_bytes"
        size = positive_size(owner, "nbytes", nbytes)
        align = positive_size(owner, "align", align)
        if align < 1 or align & (align - 1) or align > MAX_ALIGNMENT:
            raise ValidationError(
                f"{owner}: align={align}; it needs a power of two up to "
                f"{MAX_ALIGNMENT}."
            )
        name = f"workspace{len(self.buffers)}"
        buffer = self._allocate(BufferKind.WORKSPACE, name, (size,), np.dtype(np.uint8))
        buffer.align = align
        ref = DeviceBytes(buffer, (size,), buffer.dtype)
        if fill is not None:
            self.fill_bytes(ref, fill)
        return ref

    def upload_bytes(self, data: bytes | np.ndarray) -> DeviceBytes:
        """Makes constant bytes readable on the device, as part of the program.

        Equal bytes are uploaded once.

        Args:
          data: Bytes, or a NumPy array, of which the bytes are taken.

        Returns:
          A read-only reference.

        Raises:
          SignatureError: Neither bytes nor a NumPy array of numbers or records.
        """
        check_open(self)
        raw = as_bytes(f"{self.op_name}: upload_bytes", data)
        if raw not in self.constants:
            array = np.frombuffer(raw, np.uint8)
            ref = self.tensor(array, name=f"constant{len(self.operands)}")
            self.constants[raw] = buffer_of(ref)
        buffer = self.constants[raw]
        return ConstantBytes(buffer, buffer.shape, buffer.dtype)

    # Context

    def stream(self) -> StreamRef:
        """XLA's stream, on which the op runs; opaque while it is recorded."""
        check_open(self)
        return StreamRef(self)

    # Inner parts

    def _enter(self, op_name: str) -> None:
        super()._enter(op_name)
        self.operands, self.buffers = [], []
        self.constants, self.scalars = {}, {}

    def _allocate(
        self,
        kind: BufferKind,
        name: str,
        shape: tuple[int, ...],
        dtype: np.dtype,
        written: bool = False,
    ) -> Buffer:
        raise NotImplementedError

    def _scalar(self, parameter: Parameter, array: jax.Array) -> TensorRef:
        key = id(array), parameter.type
        if key not in self.scalars:  # one operand for all launches
            ref = self.tensor(promoted(parameter, array), name=parameter.name)
            self.scalars[key] = array, ref
        return self.scalars[key][1]

    def _full(self, ref: Output, value: Any) -> Any:
        """Returns an array like `ref`, filled with a value, that `tensor` takes."""
        raise NotImplementedError

    def _fill_elements(self, ref: Output, element: bytes, value: Any) -> None:
        if len(element) > 4 and element != element[:4] * (len(element) // 4):
            # Commands repeat at most four bytes; XLA makes any other pattern.
            self.copy_bytes(ref, self.tensor(self._full(ref, value)))
        else:
            self._fill(ref, ref.byte_len, element[:4])
