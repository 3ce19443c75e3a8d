"""PTX types as LLVM types."""

from __future__ import annotations

import ctypes
import struct

from .._base.errors import UnsupportedError


class _Types(dict[str, str]):
    def __missing__(self, key: str) -> str:
        raise UnsupportedError(f"type .{key} is not available on the CPU")


LLVM_TYPES = _Types(
    {
        "pred": "i1",
        **dict.fromkeys(("b8", "u8", "s8"), "i8"),
        **dict.fromkeys(("b16", "u16", "s16", "bf16"), "i16"),
        **dict.fromkeys(("b32", "u32", "s32", "bf16x2", "tf32"), "i32"),
        **dict.fromkeys(("b64", "u64", "s64"), "i64"),
        "b128": "i128",
        "f16": "half",
        "f32": "float",
        "f64": "double",
        "f16x2": "<2 x half>",
        "f32x2": "<2 x float>",
        "u16x2": "<2 x i16>",
        "s16x2": "<2 x i16>",
    }
)
WIDTHS = {
    "i1": 1,
    "i8": 8,
    "i16": 16,
    "i32": 32,
    "i64": 64,
    "i128": 128,
    "half": 16,
    "float": 32,
    "double": 64,
    "<2 x half>": 32,
    "<2 x float>": 64,
    "<2 x i16>": 32,
}
FLOAT_TYPES = frozenset({"f16", "f16x2", "f32", "f64", "bf16", "bf16x2", "f32x2"})
# Suffix of an overloaded LLVM intrinsic.
SUFFIXES = {
    "half": "f16",
    "float": "f32",
    "double": "f64",
    "<2 x half>": "v2f16",
    "<2 x float>": "v2f32",
    "<2 x i16>": "v2i16",
}


def is_signed(ptx_type: str) -> bool:
    """Whether a PTX type is a signed integer."""
    return ptx_type.startswith("s")


def memory_type(ptx_type: str) -> str:
    """Returns the LLVM type with which a PTX type is loaded and stored."""
    return "i16" if ptx_type == "f16" else LLVM_TYPES[ptx_type]


def integer_constant(value: int, llvm_type: str) -> str:
    """Writes an integer constant, wrapped to its width."""
    width = WIDTHS[llvm_type]
    if width == 1:
        return "true" if value & 1 else "false"
    value &= (1 << width) - 1
    return str(value - (1 << width) if value >> (width - 1) else value)


def float_constant(bits: int, width: int, llvm_type: str) -> str:
    """Writes a float constant given by its bits, converted to an LLVM type."""
    if width == 32 and llvm_type == "float":
        exponent, fraction = bits >> 23 & 0xFF, bits & 0x7FFFFF
        if exponent == 0xFF:  # keep the payload of a NaN
            wide = (bits >> 31) << 63 | 0x7FF << 52 | fraction << 29
        else:
            wide = _double_bits(struct.unpack("<f", struct.pack("<I", bits))[0])
        return f"0x{wide:016X}"
    if width == 64 and llvm_type == "double":
        return f"0x{bits:016X}"
    code = "<f" if width == 32 else "<d"
    value = struct.unpack(code, bits.to_bytes(width // 8, "little"))[0]
    if llvm_type == "half":
        (half,) = struct.unpack("<H", struct.pack("<e", value))
        return f"0xH{half:04X}"
    if llvm_type == "float":
        value = ctypes.c_float(value).value  # infinite if it is too large
    return f"0x{_double_bits(value):016X}"


def _double_bits(value: float) -> int:
    bits: int = struct.unpack("<Q", struct.pack("<d", value))[0]
    return bits
