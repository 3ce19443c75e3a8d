"""Makes modules: from CUDA C++ text, PTX or a cubin."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .._base.cache import fingerprint
from .._base.compat import hide_frames
from .._base.errors import ValidationError
from .._compile.program import Program
from .._source.declarations import find_kernels
from .._source.declared import Declared, parse_signature
from .._source.options import NvrtcOptions
from .._source.text import Location, check_text, find_caller, read_file, read_source
from .image_code import CubinCode, PtxCode
from .module import Module
from .source_code import SourceCode


def source_module(
    source: str | os.PathLike[str],
    options: NvrtcOptions | None = None,
    *,
    name: str | None = None,
) -> Module:
    """Makes a module as `compile_nvrtc` does, without compiling it yet."""
    options = NvrtcOptions() if options is None else options
    if not isinstance(options, NvrtcOptions):
        raise ValidationError(f"options={options!r}: NvrtcOptions(...) is needed.")
    if isinstance(source, str):
        # The mark of UTF-8, which some editors write, is no part of the text.
        text, location, directory = source.removeprefix("\ufeff"), None, None
    elif isinstance(source, os.PathLike):
        path = Path(source).absolute()
        name = name or path.name
        text, location, directory = read_source(path), Location(str(path)), path.parent
    else:
        raise ValidationError(
            f"source is {type(source).__name__}: a str of CUDA C++ or a pathlib.Path "
            "is needed."
        )
    check_text(text, name or "source")
    if name is None:
        kernels = find_kernels(text)
        name = kernels[0].name if kernels else "source"
    location = location or find_caller(text)
    program = Program(name, text, options, location, str(directory or "") or None)
    digest = bytes.fromhex(program.content_key("module"))
    return Module(SourceCode(program), digest, options, text)


@hide_frames
def compile_nvrtc(
    source: str | os.PathLike[str],
    options: NvrtcOptions | None = None,
    *,
    name: str | None = None,
) -> Module:
    """Compiles CUDA C++ with NVRTC; with clang where NVRTC is not installed.

    This compiles for the GPUs installed, without starting JAX's backends; templates
    and other targets follow when they are asked for. Results are cached by content, in
    memory and on disk.

    Args:
      source: The text, or the path of a file.
      options: For the compiler.
      name: What messages call the source; a kernel's or file's name by default.

    Raises:
      CompileError: The source does not compile. It points at the caller's own lines.
      ValidationError: The text is empty, is no text, or has no kernels.
    """
    module = source_module(source, options, name=name)
    if isinstance(module._code, SourceCode):
        module._code.compile()
    return module


@hide_frames
def load_ptx(
    ptx: str | bytes | os.PathLike[str],
    *,
    signature: str | Sequence[str] | None = None,
) -> Module:
    """Makes a module of PTX.

    Args:
      ptx: The text, or the path of a file.
      signature: Of each `extern "C"` kernel, whose symbol does not tell its types:
        `"saxpy(const float* x, float a, float* out, int n)"`.

    Raises:
      ValidationError: It is not PTX, or has no such kernel.
      SignatureError: `signature` cannot be read.
    """
    if isinstance(ptx, os.PathLike):
        text = read_source(Path(ptx))
    elif isinstance(ptx, bytes):
        text = ptx.decode(errors="replace")
    else:
        text = ptx
    text = text.rstrip("\0")
    check_text(text, "load_ptx")
    code = PtxCode(text, _declared(signature))
    return Module(code, _image_digest("ptx", text.encode(), signature))


@hide_frames
def load_cubin(
    cubin: bytes | os.PathLike[str],
    *,
    signature: str | Sequence[str] | None = None,
) -> Module:
    """Makes a module of a cubin.

    Args:
      cubin: The bytes, or the path of a file.
      signature: As for `load_ptx`.

    Raises:
      ValidationError: It is not a cubin, or has no such kernel.
      SignatureError: `signature` cannot be read.
    """
    data = read_file(Path(cubin)) if isinstance(cubin, os.PathLike) else bytes(cubin)
    code = CubinCode(data, _declared(signature))
    return Module(code, _image_digest("cubin", data, signature))


def _declared(signature: str | Sequence[str] | None) -> dict[str, Declared]:
    texts = [signature] if isinstance(signature, str) else signature or ()
    return {found.kernel: found for found in map(parse_signature, texts)}


def _image_digest(
    kind: str, data: bytes, signature: str | Sequence[str] | None
) -> bytes:
    return bytes.fromhex(fingerprint(kind, data, repr(signature)))
