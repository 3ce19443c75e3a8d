"""What `__constant__` and `__device__` variables of a module hold."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._base.compat import is_tracer
from .._base.errors import SignatureError, ValidationError
from .._compile.image import ImageVariable
from .._types.conversion import check_native, convert
from .._types.dtypes import ElementType, element_types, spell_array, value_type
from .._types.signature import c_spelling, normalize, split_pointer

# (variable's name, bytes) pairs, sorted.
Values = tuple[tuple[str, bytes], ...]

_EXTENTS = re.compile(r"\[(\d+)\]")


@dataclasses.dataclass(frozen=True, slots=True)
class VariableType:
    """What a variable holds.

    Attributes:
      spelling: The compiler's, such as `float [2][4]`; "" when the image does not say.
      size: In bytes.
    """

    spelling: str
    size: int

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of an array, () for a single value."""
        return tuple(map(int, _EXTENTS.findall(self.spelling)))

    def pack(self, owner: str, value: Any) -> bytes:
        """Returns the bytes of a value.

        Args:
          owner: Starts messages, such as `k.cu: variable 'table'`.
          value: As for `GlobalVariable.set`.

        Raises:
          SignatureError: It has another dtype, or is traced.
          ValidationError: It has another size or shape.
        """
        if is_tracer(value):
            raise SignatureError(
                f"{owner} is set to a traced array, but its value is part of the "
                "program. Pass the array to the kernel through a pointer."
            )
        choices = element_types(self.spelling)
        number = value_type(self.spelling)
        if isinstance(value, bool | int | float | complex):
            if number is None or number.kind == "vector":
                raise SignatureError(
                    f"{owner} is {self._described}, given a single number. Give "
                    f"{self._advised(choices)}."
                )
            return convert(owner, self.spelling, number, value)
        if isinstance(value, bytes):
            value = np.frombuffer(value, np.uint8)
            choices = ()
        array = np.asarray(value)
        if array.dtype.kind in "OSUMm":
            raise SignatureError(
                f"{owner} is {self._described}, given {type(value).__name__}. Give a "
                "NumPy array."
            )
        check_native(owner, array.dtype)
        if choices:
            self._check(owner, array, choices)
        elif array.nbytes != self.size:
            raise ValidationError(
                f"{owner} has {self.size} bytes; the value has {array.nbytes}. "
                "Give as many."
            )
        return array.tobytes()

    def _check(
        self, owner: str, array: np.ndarray, choices: tuple[ElementType, ...]
    ) -> None:
        given = spell_array(array)
        fitting = [choice for choice in choices if choice.dtype == array.dtype]
        if not fitting:
            needed = choices[0].dtype.name
            raise SignatureError(
                f"{owner} is {self._described}, given {given}. "
                f'Cast it with .astype("{needed}").'
            )
        extents, lanes = self.extents, fitting[0].lanes
        inner = lanes // math.prod(extents)  # of a vector such as float4
        shape = (*extents, inner) if inner > 1 else extents
        if array.shape not in (shape, (lanes,)):
            needed = " or ".join(map(str, dict.fromkeys([shape, (lanes,)])))
            raise ValidationError(
                f"{owner} is {self._described}, given {given}; shape {needed} is "
                "needed. Reshape it."
            )

    def _advised(self, choices: tuple[ElementType, ...]) -> str:
        size = self.size
        if choices or size not in (1, 2, 4, 8):
            return f"an array of {size} bytes"
        return f"np.int{8 * size}(...) for an enum, a NumPy record for a struct"

    @property
    def _described(self) -> str:
        return f"`{self.spelling}`" if self.spelling else "of unknown type"


def read_type(
    subject: str, name: str, pointer: str, variable: ImageVariable
) -> VariableType:
    """Reads what the compiler and the image say about a variable.

    Args:
      subject: The module, for messages.
      name: The variable's.
      pointer: The type of its address, such as `float (*) [2][4]`.
      variable: In the image.

    Raises:
      ValidationError: Its value cannot be set.
    """
    pointee, const = split_pointer(normalize(pointer))
    owner = f"{subject}: variable '{name}'"
    if const:
        raise ValidationError(
            f"{owner} is `{c_spelling(f'{pointee} const')}`: the compiler has used its "
            "value already. Declare it without const."
        )
    if pointee is None or pointee.endswith(("*", ")")):
        raise ValidationError(
            f"{owner} holds an address, which is known only on the device. Set it in a "
            "kernel."
        )
    return VariableType(pointee, variable.size)


def symbols_of(
    values: Values, variables: Iterable[ImageVariable]
) -> tuple[tuple[str, bytes], ...]:
    """Returns (symbol, bytes) pairs of the variables that an image has.

    What it lacks, none of its kernels reads.
    """
    symbols = {variable.name: variable.symbol for variable in variables}
    return tuple((symbols[name], data) for name, data in values if name in symbols)
