"""Reads kernels, parameters and variables off a cubin, an ELF file."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator

from .._base.errors import ValidationError
from .._types.signature import AbiParameter
from .image import Entry, ImageVariable

# A cubin is a 64-bit little-endian ELF file. `cuobjdump -elf` prints these names.
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_OBJECT = 1  # type of a symbol: data
_INFO_PARAM = 0x1704  # KPARAM_INFO: index, ordinal, offset, size << 18
_INFO_MAX_THREADS = 0x0504  # MAX_THREADS: x, y, z
_INFO_STACK_SIZE = 0x1204  # MIN_STACK_SIZE: symbol, bytes
_INFO_REGISTERS = 0x2F04  # REGCOUNT: symbol, count


def cubin_entries(cubin: bytes) -> tuple[Entry, ...]:
    """Lists the kernels of a cubin."""
    try:
        sections = dict(_sections(cubin))
        symbols = _symbols(sections[".symtab"], sections[".strtab"])
        return tuple(_cubin_entries(sections, symbols))
    except (struct.error, ValueError, LookupError):
        raise ValidationError(
            f"load_cubin: these {len(cubin):,} bytes are not a cubin, a 64-bit ELF "
            "file. Give the output of NVRTC, nvcc --cubin or ptxas."
        ) from None


def cubin_variables(cubin: bytes) -> tuple[ImageVariable, ...]:
    """Lists the variables of a cubin that `cubin_entries` has accepted."""
    sections = list(_sections(cubin))
    contents = dict(sections)
    return tuple(
        ImageVariable.of(_text(contents[".strtab"], name), size)
        for name, info, _, section, _, size in _SYMBOL.iter_unpack(contents[".symtab"])
        if info & 15 == _OBJECT and section < len(sections)
        if sections[section][0].startswith((".nv.global", ".nv.constant3"))
    )


def _cubin_entries(sections: dict[str, bytes], symbols: list[str]) -> Iterator[Entry]:
    registers: dict[str, int] = {}
    stack_bytes: dict[str, int] = {}
    for tag, payload in _attributes(sections[".nv.info"]):
        if tag in (_INFO_REGISTERS, _INFO_STACK_SIZE):
            symbol, value = struct.unpack_from("<II", payload)
            table = registers if tag == _INFO_REGISTERS else stack_bytes
            table[symbols[symbol]] = value
    for name in sections:
        symbol_name = name.removeprefix(".nv.info.")
        if name == symbol_name or f".text.{symbol_name}" not in sections:
            continue
        parameters: dict[int, AbiParameter] = {}
        max_threads = None
        for tag, payload in _attributes(sections[name]):
            if tag == _INFO_PARAM:
                _, ordinal, offset, flags = struct.unpack_from("<IHHI", payload)
                align = min(16, offset & -offset or 16)  # the most the offset allows
                parameters[ordinal] = AbiParameter(flags >> 18, align)
            elif tag == _INFO_MAX_THREADS:
                max_threads = math.prod(struct.unpack_from("<III", payload))
        if f".nv.constant0.{symbol_name}" in sections:  # device functions have none
            yield Entry(
                symbol_name,
                tuple(parameters[index] for index in sorted(parameters)),
                max_threads,
                registers.get(symbol_name),
                local_bytes=stack_bytes.get(symbol_name),
            )


def _sections(cubin: bytes) -> Iterator[tuple[str, bytes]]:
    if cubin[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit ELF file")
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", cubin, 0x3A)
    if size != _SECTION.size:
        raise ValueError("not this ELF version")
    headers = [_SECTION.unpack_from(cubin, table + i * size) for i in range(count)]
    names = cubin[headers[names_index][4] :][: headers[names_index][5]]
    for name, kind, _, _, offset, length, *_ in headers:
        no_bits = kind == 8
        if not no_bits and offset + length > len(cubin):
            raise ValueError("truncated")
        yield _text(names, name), b"" if no_bits else cubin[offset : offset + length]


def _symbols(table: bytes, names: bytes) -> list[str]:
    return [_text(names, symbol[0]) for symbol in _SYMBOL.iter_unpack(table)]


def _text(names: bytes, at: int) -> str:
    return names[at : names.index(b"\0", at)].decode()


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        form, kind, value = struct.unpack_from("<BBH", data, at)
        at += 4
        if form == 4:  # the value is the length of a payload that follows
            yield kind << 8 | form, data[at : at + value]
            at += value
