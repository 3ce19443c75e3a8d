"""KernelSignature: a kernel's parameters, as the compiler itself spells them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from .._base.errors import SignatureError
from .._base.text import split_top_level
from .dtypes import value_type


@dataclasses.dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel.

    Attributes:
      index: Position, from 0.
      name: The source's name, `arg3` when it is not known.
      type: The compiler's spelling, such as `float const*`.
      size: In bytes.
      align: In bytes.
      pointee: For a pointer, what it points to, without const; else None.
      const: For a pointer, whether the kernel may only read through it.
      abi: PTX's type: `u32` for an int or an enum, `b8` for a struct, "" if unknown.
    """

    index: int
    name: str
    type: str
    size: int
    align: int
    pointee: str | None = None
    const: bool = False
    abi: str = ""

    @property
    def is_pointer(self) -> bool:
        """Whether the parameter is a data pointer."""
        return self.pointee is not None

    def __str__(self) -> str:
        return f"{c_spelling(self.type)} {self.name}"


@dataclasses.dataclass(frozen=True, slots=True)
class KernelSignature:
    """A kernel's name and parameters.

    Attributes:
      kernel: The name the user asked for, such as `ns::scale<float>`.
      parameters: In order.
    """

    kernel: str
    parameters: tuple[Parameter, ...]

    def __str__(self) -> str:
        name = self.kernel.split("(")[0]  # an overload's name has its types in it
        return f"void {name}({', '.join(map(str, self.parameters))})"


def make_signature(
    kernel: str,
    types: Sequence[str],
    abi: Sequence[AbiParameter] | None,
    names: Sequence[str | None] = (),
) -> KernelSignature:
    """Joins what the compiler says about types with what the image says about sizes.

    Args:
      kernel: The name the user asked for.
      types: Of the parameters, in the compiler's spelling.
      abi: From the image; None takes the sizes from the types.
      names: From the text; used when their number agrees.

    Raises:
      SignatureError: The two disagree, or a parameter cannot be passed from JAX.
    """
    if abi is not None and len(abi) != len(types):
        raise SignatureError(
            f"{kernel}: the type has {len(types)} parameters ({', '.join(types)}), the "
            f"compiled kernel has {len(abi)}. Give the signature of this very kernel."
        )
    known = [name for name in names if name is not None]
    if len(names) != len(types) or len({*known}) != len(known):
        names = [None] * len(types)
    parameters = (
        _make_parameter(
            kernel, index, names[index], c_type, abi[index] if abi else None
        )
        for index, c_type in enumerate(types)
    )
    return KernelSignature(kernel, tuple(parameters))


_POINTER_TO_ARRAY = re.compile(r"(.+?) \(\*\) ?((?:\[\d+\])+)\Z")
_QUALIFIED = re.compile(r"(.*?)((?: const| volatile)*)\Z", re.DOTALL)


def _make_parameter(
    kernel: str,
    index: int,
    name: str | None,
    c_type: str,
    abi: AbiParameter | None,
) -> Parameter:
    name = name or f"arg{index}"
    if c_type.endswith("&"):
        raise SignatureError(
            f"{kernel}, parameter `{c_spelling(c_type)} {name}`: a reference is an "
            "address of the host. Take the value itself, or a pointer."
        )
    pointee, const = split_pointer(c_type)
    value = value_type(c_type)
    if pointee is not None:
        expected = AbiParameter(8, 8, "u64")
    elif value is not None:
        expected = AbiParameter(value.size, min(16, value.size & -value.size))
    elif abi is not None:
        expected = abi
    else:
        raise SignatureError(
            f"{kernel}, parameter {index}: the size of `{c_type}` is not known. "
            "Give source, or PTX or a cubin with this kernel."
        )
    if abi is not None and abi.size != expected.size:
        raise SignatureError(
            f"{kernel}, parameter `{c_spelling(c_type)} {name}`: the type has "
            f"{expected.size} bytes, the compiled kernel takes {abi.size}. "
            "Give the signature of this very kernel."
        )
    if abi is not None and abi.abi:  # a cubin knows no alignment
        expected = abi
    return Parameter(
        index, name, c_type, expected.size, expected.align, pointee, const, expected.abi
    )


def split_pointer(c_type: str) -> tuple[str | None, bool]:
    """Returns what a pointer points to, without qualifiers, and whether it is const.

    None when the type is no pointer to data.
    """
    if array := _POINTER_TO_ARRAY.match(c_type):
        pointee, extents = array[1], f" {array[2]}"
    elif c_type.endswith("*"):
        pointee, extents = c_type[:-1], ""
    else:
        return None, False
    qualified = _QUALIFIED.match(pointee)
    base, qualifiers = qualified.groups() if qualified else (pointee, "")
    return base + extents, " const" in qualifiers


def c_spelling(c_type: str) -> str:
    """Returns a type as people write it: `const float*` for `float const*`."""
    match = re.match(r"([^*&]+?) const([*&].*)?\Z", c_type)
    if match is None or match[1].count("<") != match[1].count(">"):
        return c_type  # the const belongs to a template argument
    return f"const {match[1]}{match[2] or ''}"


_ABI_NAMESPACE = re.compile(r"\b(?:__\d+|_V_\w+|_CCCL_\w+)::")


def normalize(c_type: str) -> str:
    """Drops the versions that libcu++ puts in its names: `cuda::std::__4::complex`."""
    return _ABI_NAMESPACE.sub("", c_type).strip()


def split_function_type(c_type: str) -> tuple[str, ...]:
    """Splits `void (*)(float const*, int)` into its parameter types."""
    text = c_type.removeprefix("void (*)").strip()
    if text == c_type or not (text.startswith("(") and text.endswith(")")):
        raise SignatureError(f"`{c_type}` is not the type of a kernel.")
    return tuple(normalize(part) for part in split_top_level(text[1:-1]))


def split_symbol(demangled: str) -> tuple[str, tuple[str, ...]] | None:
    """Splits `void ns::k<int>(float*, int)` into name and parameter types.

    None when there is no parameter list, as for `extern "C"` symbols.
    """
    if not demangled.endswith(")"):
        return None
    depth = 0
    for at in range(len(demangled) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(demangled[at], 0)
        if depth == 0:
            break
    words = split_top_level(demangled[:at], " ")  # a template has its result in front
    if not words:
        return None
    name = words[-1].replace("(anonymous namespace)::", "")
    types = split_top_level(demangled[at + 1 : -1])
    return name, tuple(normalize(c_type) for c_type in types)


@dataclasses.dataclass(frozen=True, slots=True)
class AbiParameter:
    """A parameter as the binary interface has it.

    Attributes:
      size: In bytes.
      align: In bytes.
      abi: PTX's type, such as `u64`, `f32`, or `b8` for a struct; "" in a cubin.
    """

    size: int
    align: int
    abi: str = ""
