"""Commands: the part of a session that starts work on the stream."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from .._base.errors import SignatureError, ValidationError
from .._base.sizes import positive_size
from .._device.runtime import RuntimeIdentity, runtime_identity
from .._module.load import compile_nvrtc, load_cubin, load_ptx
from .._module.module import Function
from .._plan.commands import Command, Copy, Fill, Launch, Synchronize
from .._types.launch import LaunchConfig
from .._types.scalars import pack_value
from .._types.signature import Parameter
from .binding import bind_arguments, check_block, check_count
from .refs import Ref, buffer_of, offset_of, place
from .scope import Scope, check_open
from .uses import check_span, check_use, check_writable


class Commands(Scope):
    """Checks each command, then hands it to `_emit`: to be recorded, or to be run."""

    def _emit(self, command: Command) -> None:
        raise NotImplementedError

    def _scalar(self, parameter: Parameter, array: jax.Array) -> Ref:
        """Returns a reference to an array that stands for a by-value argument."""
        raise NotImplementedError

    def launch(self, function: Function, config: LaunchConfig, *args: Any) -> None:
        """Launches a kernel.

        Args:
          function: From `Module.function`.
          config: Geometry. An empty grid launches nothing.
          *args: One per parameter: a reference (or None, a null pointer) for a
            pointer, a Python or NumPy number for a value. Or, for a value that is read
            from memory when the kernel starts, a JAX array or a reference: a number
            without axes, the lanes of a vector, or the bytes of either or of a struct.

        Raises:
          SignatureError: The arguments do not match the kernel's parameters.
          ValidationError: A value, a span or the geometry is out of range.
        """
        check_open(self)
        if not isinstance(function, Function) or not isinstance(config, LaunchConfig):
            raise SignatureError(
                f"{self.op_name}: launch needs (function, LaunchConfig, *args), got "
                f"({type(function).__name__}, {type(config).__name__}, ...)."
            )
        signature = function.signature
        check_count(signature, len(args))
        check_block(function, config)
        for ref in args:
            if isinstance(ref, Ref):
                check_use(self, ref)
        arguments, written = bind_arguments(signature, args, self._scalar)
        if config.is_empty:
            return
        self._emit(Launch(function, config, tuple(arguments)))
        for buffer in written:
            buffer.written = True

    def copy_bytes(
        self, destination: Ref, source: Ref, nbytes: int | None = None
    ) -> None:
        """Copies bytes on the device.

        Args:
          destination: Where to.
          source: Where from.
          nbytes: How many; by default all, and both must have the same size.

        Raises:
          ValidationError: The spans overlap or are too small, or nothing has written
            the source.
          SessionError: The destination is read only.
        """
        owner = f"{self.op_name}: copy_bytes"
        check_writable(self, owner, destination)
        check_use(self, source)
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
            self._emit(Copy(place(destination), place(source), size))

    def fill_bytes(
        self, destination: Ref, value: int, nbytes: int | None = None
    ) -> None:
        """Sets every byte of a span to one value.

        Args:
          destination: The span.
          value: 0 to 255.
          nbytes: How many; all by default.

        Raises:
          ValidationError: A number is out of range.
          SessionError: The destination is read only.
        """
        owner = f"{self.op_name}: fill_bytes"
        check_writable(self, owner, destination)
        size = destination.byte_len
        if nbytes is not None:
            size = positive_size(owner, "nbytes", nbytes)
        check_span(f"{owner}: the destination", destination, size)
        (byte,) = pack_value(f"{owner}: value", np.dtype(np.uint8), value)
        self._fill(destination, size, bytes([byte]))

    def synchronize(self) -> None:
        """Makes the host wait, at run time, for all that was started before.

        A recorded op with this command cannot become part of a CUDA graph.
        """
        check_open(self)
        self._emit(Synchronize())

    @property
    def runtime_identity(self) -> RuntimeIdentity:
        """The backend that JAX would use by default."""
        check_open(self)
        return runtime_identity()

    compile_nvrtc = staticmethod(compile_nvrtc)
    load_ptx = staticmethod(load_ptx)
    load_cubin = staticmethod(load_cubin)

    def _fill(self, ref: Ref, nbytes: int, pattern: bytes) -> None:
        if nbytes:
            buffer_of(ref).written = True
            value = int.from_bytes(pattern, "little")
            self._emit(Fill(place(ref), nbytes, len(pattern), value))
