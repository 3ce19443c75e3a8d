"""Checks the arguments of one launch against the kernel's own signature."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from .._base.errors import RawCudaError, SignatureError, ValidationError, counted
from .._device.driver import has_device
from .._device.loaded_kernel import FunctionAttributes
from .._module.module import Function
from .._plan.commands import PointerArgument, ScalarArgument
from .._types.arrays import ArrayType, describe, is_array, is_turned_off
from .._types.dtypes import accepts, element_type, element_types
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
    alignment = element.dtype.itemsize * lanes
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


def check_scalar(kernel: str, parameter: Parameter, value: Any) -> ScalarArgument:
    """Converts a by-value argument to the parameter's bytes."""
    if isinstance(value, Ref):
        raise SignatureError(
            f"{kernel}: argument '{parameter.name}' is {value!r}, but parameter "
            f"`{parameter}` is passed by value. Pass a number."
        )
    if isinstance(value, jax.Array):
        raise SignatureError(
            f"{kernel}: scalar '{parameter.name}' is a JAX array ({describe(value)}), "
            f"but parameter `{parameter}` is passed by value, so that its value must "
            "be known while tracing. Declare it `const T*` and read it in the kernel, "
            "or make it a static Python number (static_argnums)."
        )
    return ScalarArgument(parameter.type, pack_scalar(kernel, parameter, value))


def bind_arguments(
    signature: KernelSignature, args: Sequence[Any]
) -> tuple[tuple[PointerArgument | ScalarArgument, ...], list[Buffer]]:
    """Checks every argument; returns the recorded ones and the buffers written to."""
    bound: list[PointerArgument | ScalarArgument] = []
    written: list[Buffer] = []
    for parameter, value in zip(signature.parameters, args, strict=True):
        if not parameter.is_pointer:
            bound.append(check_scalar(signature.kernel, parameter, value))
            continue
        if isinstance(value, Ref):
            _name_after(buffer_of(value), parameter.name)
        ref = check_pointer(signature.kernel, parameter, value)
        if ref is None:  # a null pointer needs no buffer
            bound.append(ScalarArgument(parameter.type, _NULL))
            continue
        bound.append(PointerArgument(place(ref)))
        if not parameter.const:
            written.append(buffer_of(ref))
    return tuple(bound), written


def _name_after(buffer: Buffer, parameter: str) -> None:
    """Gives a result the name of the parameter that writes it first."""
    if buffer.kind is BufferKind.RESULT and buffer.name.startswith("output"):
        buffer.name = parameter
