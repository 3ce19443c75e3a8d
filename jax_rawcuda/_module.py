"""Module: source, PTX or a cubin, with kernels and variables in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ._cache import fingerprint
from ._code import Code, SourceCode
from ._code import ModuleImage as ModuleImage
from ._declarations import find_kernels
from ._declared import Declared, parse_signature
from ._errors import ValidationError
from ._function import Function as Function
from ._globals import GlobalVariable, Values
from ._image_code import CubinCode, PtxCode
from ._nvrtc import NvrtcOptions
from ._program import Program
from ._source import Location, check_text, find_caller, read_file, read_source
from ._target import Target as Target
from ._target import default_target as default_target


class Module:
    """CUDA code with kernels in it. Equal when the contents are equal.

    Attributes:
      digest: SHA-256 of all that the compiled code depends on.
      options: Of the compiler; None for PTX and cubins.
      source: The CUDA C++ text; None for PTX and cubins.
      values: (name, bytes) pairs of the variables that were given values.
    """

    __slots__ = ("_code", "_content", "digest", "options", "source", "values")

    def __init__(
        self,
        code: Code,
        digest: bytes,
        options: NvrtcOptions | None = None,
        source: str | None = None,
        values: Values = (),
    ) -> None:
        self._code = code
        self._content = digest  # of the code alone
        self.digest = _value_digest(digest, values) if values else digest
        self.options = options
        self.source = source
        self.values = values

    @property
    def name(self) -> str:
        """What messages call it: a file, a kernel, or how it was loaded."""
        return self._code.name

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """The kernels that can be seen without compiling, templates included."""
        return self._code.kernel_names

    def only_kernel_name(self) -> str:
        """Returns the kernel's name, where there is only one.

        Raises:
          ValidationError: There are none, or several.
        """
        names = self.kernel_names
        if len(names) != 1:
            listed = f"{len(names)} kernels ({', '.join(names)})"
            raise ValidationError(
                f"{self.name}: {listed if names else 'no kernel in plain sight'}; "
                "name one."
            )
        return names[0]

    def function(self, name: str | None = None) -> Function:
        """Returns a kernel.

        Args:
          name: Its name, such as `ns::scale`, or a name expression, such as
            `ns::scale<float, 4>`; None when there is only one.

        Raises:
          ValidationError: The module has no such kernel.
          CompileError: The name cannot be decided without compiling, and that fails.
        """
        name = name or self.only_kernel_name()
        name = name.strip().removeprefix("::")
        self._code.check(name)
        return Function(self, name)

    def global_(self, name: str) -> GlobalVariable:
        """Returns a `__constant__` or `__device__` variable, to give it a value.

        Args:
          name: Its name, such as `ns::coefficients`.

        Raises:
          ValidationError: There is none, or its value cannot be set.
          CompileError: The source does not compile.

        >>> module = module.global_("gain").set(2.0)  # doctest: +SKIP
        """
        name = name.strip().removeprefix("::")
        return GlobalVariable(self, name, self._code.variable(name))

    def with_value(self, name: str, data: bytes) -> Module:
        """Returns this module with the bytes of one variable; see `global_`.

        Args:
          name: The variable's.
          data: Its bytes; unlike in `GlobalVariable.set`, nothing checks them.
        """
        values = tuple(sorted({**dict(self.values), name: data}.items()))
        return Module(self._code, self._content, self.options, self.source, values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Module) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        values = f", values of {', '.join(n for n, _ in self.values)}"
        return (
            f"Module({self.name!r}, kernels={list(self.kernel_names)}"
            f"{values if self.values else ''})"
        )


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


def _value_digest(content: bytes, values: Values) -> bytes:
    return bytes.fromhex(fingerprint("values", content, repr(values)))


def _image_digest(
    kind: str, data: bytes, signature: str | Sequence[str] | None
) -> bytes:
    return bytes.fromhex(fingerprint(kind, data, repr(signature)))
