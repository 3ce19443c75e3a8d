"""What a session hands out: names for memory that exists only when the op runs."""

from __future__ import annotations

import enum
import math
import operator
from dataclasses import dataclass
from typing import Any, NoReturn, Self, SupportsIndex

import numpy as np

from .._base.errors import SessionError, ValidationError
from .._plan.commands import BufferRef, Space
from .._types.dtypes import spell_array
from .scope import Scope
from .views import View


class BufferKind(enum.Enum):
    """Where the memory of a buffer comes from."""

    OPERAND = "operand"
    RESULT = "result"
    WORKSPACE = "workspace"


@dataclass(eq=False, slots=True)
class Buffer:
    """One array of the recorded op.

    Attributes:
      session: The only session that may use it.
      kind: Operand, possible result, or workspace.
      index: Among the operands, or among the results and workspaces together.
      name: For messages.
      shape: Of the whole buffer.
      dtype: Of its elements.
      written: Whether its contents are defined.
      in_place: The result that took the operand's place.
      align: What its address must be a multiple of, in bytes.
    """

    session: Scope
    kind: BufferKind
    index: int
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    written: bool = False
    in_place: TensorMut | None = None
    align: int = 1

    def view(self, ref: Ref) -> View:
        """Where `ref` is in memory; only a live session knows."""
        raise SessionError(
            f"{self.session.op_name}: {ref!r} has no address while the op is "
            "recorded. Use it in a function decorated with rc.live_op."
        )


class Ref:
    """A span of one buffer, with a shape and a dtype.

    `ref[a:b]` and `ref[i]` select along the first axis; `ref.at_bytes(n)` starts n
    bytes further on. Both are the same memory, not a copy.
    """

    __slots__ = ("_buffer", "_offset", "dtype", "shape")
    __iter__ = None
    writable = True

    def __init__(
        self, buffer: Buffer, shape: tuple[int, ...], dtype: np.dtype, offset: int = 0
    ) -> None:
        self._buffer = buffer
        self._offset = offset
        self.shape = shape
        self.dtype = dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def byte_len(self) -> int:
        """Size in bytes."""
        return self.size * self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Size in bytes, under NumPy's name."""
        return self.byte_len

    def at_bytes(self, offset: int) -> DeviceBytes:
        """Returns the untyped rest of the span.

        Args:
          offset: Where it starts, in bytes.

        Raises:
          ValidationError: `offset` is outside of the span.
        """
        start = operator.index(offset)
        if not 0 <= start <= self.byte_len:
            raise ValidationError(
                f"{self._name}: byte offset {start} is outside of its "
                f"{self.byte_len} bytes."
            )
        rest = (self.byte_len - start,)
        kind = DeviceBytes if self.writable else ConstantBytes
        return kind(self._buffer, rest, np.dtype(np.uint8), self._offset + start)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a rank 0 reference")
        return self.shape[0]

    def __getitem__(self, item: int | slice) -> Self:
        if not self.shape or not isinstance(item, int | slice | np.integer):
            raise ValidationError(
                f"{self._name}: only ref[i] and ref[a:b] along the first axis are "
                "contiguous memory. Slice the array before the op."
            )
        rows, row = self.shape[0], self.shape[1:]
        stride = math.prod(row) * self.dtype.itemsize
        if isinstance(item, slice):
            start, stop, step = item.indices(rows)
            if step != 1:
                raise ValidationError(
                    f"{self._name}: a slice with step {step} is not contiguous. "
                    "Slice the array before the op."
                )
            shape = (max(stop - start, 0), *row)
        else:
            start, shape = operator.index(item), row
            start += rows if start < 0 else 0
            if not 0 <= start < rows:
                raise IndexError(f"index {item} of an axis of {rows}")
        return type(self)(
            self._buffer, shape, self.dtype, self._offset + start * stride
        )

    # What follows works in a live session only.

    def unsafe_raw_ptr(self) -> int:
        """Returns the address, valid until the live op returns.

        Nothing checks what is done with it.
        """
        return self._buffer.view(self).address

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return self._buffer.view(self).cuda_array_interface()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._buffer.view(self).numpy(), dtype, copy=copy)

    def __dlpack__(self, **options: Any) -> Any:
        return self._buffer.view(self).dlpack(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._buffer.view(self).dlpack_device()

    def __jax_array__(self) -> NoReturn:
        raise SessionError(
            f"{self._name} is a {type(self).__name__}: it has no values while the op "
            "is recorded. Compute with jax.numpy outside of the op."
        )

    def _no_arithmetic(self, *_: object) -> NoReturn:
        raise SessionError(
            f"{self._name} is a {type(self).__name__}, memory for kernels, and cannot "
            "be computed with. Use jax.numpy outside of the op, or a kernel."
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _no_arithmetic
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _no_arithmetic
    __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _no_arithmetic
    __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = _no_arithmetic
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __abs__ = _no_arithmetic

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise SessionError(
            f"{self._name}: a reference cannot be copied or pickled. Pass arrays."
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._buffer.name}: {spell_array(self)})"

    @property
    def _name(self) -> str:
        return f"{self._buffer.session.op_name}: '{self._buffer.name}'"


class TensorRef(Ref):
    """An operand. Read only."""

    __slots__ = ()
    writable = False


class TensorMut(Ref):
    """An operand that is changed in place; return it to give the new value."""

    __slots__ = ()


class Output(Ref):
    """A new array. Undefined until a command writes it."""

    __slots__ = ()


class DeviceBytes(Ref):
    """Untyped workspace, for pointers of any type."""

    __slots__ = ()

    @property
    def is_empty(self) -> bool:
        """Whether it has no bytes."""
        return self.byte_len == 0


class ConstantBytes(DeviceBytes):
    """Untyped bytes that are read only: uploaded ones, or part of an operand."""

    __slots__ = ()
    writable = False


def buffer_of(ref: Ref) -> Buffer:
    """The buffer that a reference is part of."""
    return ref._buffer


def offset_of(ref: Ref) -> int:
    """Where in its buffer a reference starts, in bytes."""
    return ref._offset


def is_whole(ref: Ref) -> bool:
    """Whether a reference is all of its buffer."""
    buffer = buffer_of(ref)
    return (ref.shape, ref.dtype) == (buffer.shape, buffer.dtype)


def place(ref: Ref) -> BufferRef:
    """Position of a reference; results are renumbered when the op returns."""
    buffer = buffer_of(ref)
    operand = buffer.kind is BufferKind.OPERAND
    space = Space.OPERAND if operand else Space.RESULT
    return BufferRef(space, buffer.index, offset_of(ref))
