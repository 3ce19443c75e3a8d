"""Checks the arguments of one launch against the kernel's own signature."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from .._base.errors import RawCudaError, SignatureError, ValidationError, counted
from .._device.driver import has_device
from .._device.loaded_kernel import FunctionAttributes
from .._module.module import Function
from .._plan.commands import (
    Argument,
    DynamicArgument,
    PointerArgument,
    ScalarArgument,
)
from .._types.arrays import ArrayType, describe, is_array, is_turned_off
from .._types.dtypes import accepts, element_type, element_types
from .._types.dynamic import check_array
from .._types.launch import MAX_SHARED_MEM_BYTES, LaunchConfig
from .._types.scalars import KernelArg, pack_scalar
from .._types.signature import KernelSignature, Parameter
from .refs import Buffer, BufferKind, DeviceBytes, Ref, buffer_of, offset_of, place

_NULL = bytes(8)


def check_count(signature: KernelSignature, given: int) -> None:
    """Refuses a launch with too few or too many arguments."""
    parameters = signature.parameters
    if given != len(parameters):
        names = ", ".join(p.name for p in parameters)
        raise SignatureError(
            f"{signature.kernel}: expected {counted(len(parameters), 'argument')} "
            f"({names}), got {given}."
        )


def check_block(function: Function, config: LaunchConfig) -> None:
    """Refuses a block that needs more than there is, where that is known."""
    known = _attributes(function)
    fixed = known.shared_bytes or 0
    if fixed + config.shared_mem_bytes > MAX_SHARED_MEM_BYTES:
        raise ValidationError(
            f"{function.name}: shared_mem_bytes={config.shared_mem_bytes} and {fixed} "
            f"static bytes of shared memory per block; no device allows more than "
            f"{MAX_SHARED_MEM_BYTES}. Lower shared_mem_bytes."
        )
    limit = known.max_threads
    if limit is not None and config.threads_per_block > limit:
        raise ValidationError(
            f"{function.name}: block={config.block} has {config.threads_per_block} "
            f"threads; this kernel allows {limit}, by its __launch_bounds__ or its "
            "registers. Use a smaller block."
        )


@functools.lru_cache(maxsize=256)
def _attributes(function: Function) -> FunctionAttributes:
    unknown = FunctionAttributes("")
    if has_device():  # the handler asks the driver; tracing must not load a module
        return unknown
    try:
        return function.attributes
    except RawCudaError:  # no compiler for CUDA here
        return unknown


def check_pointer(kernel: str, parameter: Parameter, value: Any) -> Ref | None:
    """Accepts a reference, or None for a null pointer, for a pointer parameter."""
    if value is None:
        return None
    if not isinstance(value, Ref):
        raise SignatureError(_not_a_reference(kernel, parameter, value))
    name = f"{kernel}: operand '{buffer_of(value).name}'"
    if not parameter.const and not value.writable:
        raise SignatureError(
            f"{name} is a read-only {type(value).__name__}, but parameter "
            f"`{parameter}` may write to it. Declare the parameter const, or use "
            "s.tensor_mut(x) for in-place use."
        )
    if not isinstance(value, DeviceBytes):
        check_element(name, parameter, ArrayType(value.shape, value.dtype))
    _check_alignment(name, parameter, value)
    if parameter.const and value.byte_len and not buffer_of(value).written:
        raise ValidationError(
            f"{name} is read through `{parameter}`, but nothing has written it yet. "
            "Launch its producer first, or allocate it with fill=."
        )
    return value


def check_element(name: str, parameter: Parameter, array: ArrayType) -> None:
    """Compares an array's dtype and last axis with what a pointer points to.

    Args:
      name: Starts the message, such as `saxpy: operand 'x'`.
      parameter: A pointer.
      array: What is passed for it.
    """
    pointee = parameter.pointee or "void"
    if pointee.endswith("*"):
        raise SignatureError(
            f"{name} cannot stand for `{parameter}`: an array holds no addresses."
        )
    choices = element_types(pointee)
    if not choices:
        return  # void, or a struct, whose layout is the caller's affair
    if not accepts(pointee, array.dtype):
        names = list(dict.fromkeys(choice.dtype.name for choice in choices))
        raise SignatureError(
            f"{name} is {array.dtype.name}, but parameter `{parameter}` needs "
            f"{' or '.join(names)}. {_cast_advice(name, array.dtype, names[0])}"
        )
    lanes = min(c.lanes for c in choices if c.dtype == array.dtype)
    last = array.shape[-1] if array.shape else 1
    if last % lanes:
        raise ValidationError(
            f"{name} has shape {array.shape}, but parameter `{parameter}` needs a "
            f"last axis that is a multiple of {lanes} {array.dtype.name}. Pad it."
        )


def operand_shape(kernel: str, parameter: Parameter, ref: Any) -> tuple[int, ...]:
    """Returns the shape that a kernel's contract sees, of a checked dtype.

    Untyped bytes count in the kernel's elements.

    Raises:
      SignatureError: The dtype is not the parameter's. This is told before results are
        allocated, whose dtype JAX may have turned off for the same reason.
      ValidationError: The bytes are no whole number of elements.
    """
    name = f"{kernel}: operand '{buffer_of(ref).name}'"
    if not isinstance(ref, DeviceBytes):
        check_element(name, parameter, ArrayType(ref.shape, ref.dtype))
        return tuple(ref.shape)
    element = element_type(parameter.pointee or "")
    if element is None:
        return tuple(ref.shape)
    count, rest = divmod(ref.byte_len, element.dtype.itemsize)
    if rest:
        raise ValidationError(
            f"{kernel}: operand '{parameter.name}' has {ref.byte_len} bytes, which is "
            f"no whole number of {element.dtype.name}. Slice it."
        )
    return (count,)


def _cast_advice(name: str, given: np.dtype, needed: str) -> str:
    short = name.rpartition("'")[0].rpartition("'")[2] or "x"
    if not short.isidentifier():
        return f"Cast it to {needed}."
    cast = f'ast with {short}.astype("{needed}")'
    if is_turned_off(np.dtype(needed)):
        return f'Set jax.config.update("jax_enable_x64", True) and c{cast}.'
    if given.itemsize == np.dtype(needed).itemsize and given.kind in "iub":
        return f"C{cast}, or reinterpret with .view."
    return f"C{cast}."


def _check_alignment(name: str, parameter: Parameter, value: Ref) -> None:
    choices = element_types(parameter.pointee or "void")
    if not choices:
        return
    element = choices[0]
    # CUDA's vectors of three are aligned as one of their elements.
    lanes = element.lanes if element.lanes in (1, 2, 4) else 1
    _check_start(name, parameter, value, element.dtype.itemsize * lanes)


def _check_start(name: str, parameter: Parameter, value: Ref, alignment: int) -> None:
    if offset_of(value) % alignment:
        raise ValidationError(
            f"{name} starts at byte {offset_of(value)}, but parameter `{parameter}` "
            f"needs a multiple of {alignment}."
        )


def _not_a_reference(kernel: str, parameter: Parameter, value: Any) -> str:
    where = f"{kernel}: argument '{parameter.name}'"
    if isinstance(value, KernelArg):
        return (
            f"{where} is KernelArg.{value.kind}, a scalar, but parameter "
            f"`{parameter}` is a pointer."
        )
    if is_array(value) and not isinstance(value, np.generic):
        return (
            f"{where} is an array that this session does not know "
            f"({describe(value)}). Pass it to the op by position, or wrap it with "
            "s.tensor(x)."
        )
    return (
        f"{where} is {describe(value)}, but parameter `{parameter}` is a pointer. "
        "Pass a reference of this session."
    )


# Returns a reference to an array that stands for a by-value argument.
TakeScalar = Callable[[Parameter, jax.Array], Ref]


def check_scalar(
    kernel: str, parameter: Parameter, value: Any, take: TakeScalar
) -> ScalarArgument | DynamicArgument:
    """Converts a by-value argument to the parameter's bytes, or says where they are."""
    if isinstance(value, jax.Array):
        value = take(parameter, value)
    if not isinstance(value, Ref):
        return ScalarArgument(parameter.type, pack_scalar(kernel, parameter, value))
    name = f"{kernel}: scalar '{parameter.name}'"
    if not isinstance(value, DeviceBytes):
        check_array(kernel, parameter, ArrayType(value.shape, value.dtype))
    elif value.byte_len != parameter.size:
        raise ValidationError(
            f"{name} has {value.byte_len} bytes, but parameter `{parameter}` needs "
            f"{parameter.size}. Slice it."
        )
    if not buffer_of(value).written:
        raise ValidationError(
            f"{name} is read from '{buffer_of(value).name}', but nothing has written "
            "it yet. Launch its producer first, or allocate it with fill=."
        )
    _check_start(name, parameter, value, parameter.align)
    return DynamicArgument(parameter.type, parameter.size, place(value))


def bind_arguments(
    signature: KernelSignature, args: Sequence[Any], take: TakeScalar
) -> tuple[tuple[Argument, ...], list[Buffer]]:
    """Checks every argument; returns the recorded ones and the buffers written to."""
    bound: list[Argument] = []
    written: list[Ref] = []
    for parameter, value in zip(signature.parameters, args, strict=True):
        if not parameter.is_pointer:
            bound.append(check_scalar(signature.kernel, parameter, value, take))
            continue
        if isinstance(value, Ref):
            _name_after(buffer_of(value), parameter.name)
        ref = check_pointer(signature.kernel, parameter, value)
        if ref is None:  # a null pointer needs no buffer
            bound.append(ScalarArgument(parameter.type, _NULL))
            continue
        bound.append(PointerArgument(place(ref)))
        if not parameter.const:
            written.append(ref)
    _check_apart(signature, bound, written)
    return tuple(bound), [*map(buffer_of, written)]


def _check_apart(
    signature: KernelSignature, bound: Sequence[Argument], written: Sequence[Ref]
) -> None:
    """Refuses a scalar in memory that the launch itself may write."""
    for parameter, argument in zip(signature.parameters, bound, strict=True):
        if not isinstance(argument, DynamicArgument):
            continue
        begin = argument.ref.offset
        for ref in written:
            to = place(ref)
            same = (to.space, to.index) == (argument.ref.space, argument.ref.index)
            ends = to.offset + ref.byte_len, begin + argument.size
            if same and begin < ends[0] and to.offset < ends[1]:
                raise ValidationError(
                    f"{signature.kernel}: scalar '{parameter.name}' is read from "
                    f"'{buffer_of(ref).name}', which the same launch may write. Copy "
                    "it to a workspace before."
                )


def _name_after(buffer: Buffer, parameter: str) -> None:
    """Gives a result the name of the parameter that writes it first."""
    if buffer.kind is BufferKind.RESULT and buffer.name.startswith("output"):
        buffer.name = parameter
