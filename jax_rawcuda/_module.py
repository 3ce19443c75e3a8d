"""Module and Function: source, PTX or a cubin, and the kernels in it."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path

from ._cache import fingerprint
from ._code import MAX_THREADS, Code, SourceCode
from ._code import ModuleImage as ModuleImage
from ._declarations import find_kernels
from ._declared import Declared, parse_signature
from ._device import (
    FunctionAttributes,
    LoadedKernel,
    Occupancy,
    has_device,
    require_device,
)
from ._errors import ValidationError
from ._image_code import CubinCode, PtxCode
from ._nvrtc import NvrtcOptions
from ._program import Program
from ._signature import KernelSignature
from ._source import Location, check_text, find_caller, read_source
from ._target import Target as Target
from ._target import default_target as default_target


class Function:
    """One kernel of a module. Equal when module contents and name are equal.

    Attributes:
      name: As it was asked for, such as `ns::scale<float>`.
      module: Where it is from.
    """

    __slots__ = ("_signature", "module", "name")

    def __init__(self, module: Module, name: str) -> None:
        self.module = module
        self.name = name
        self._signature: KernelSignature | None = None

    @property
    def signature(self) -> KernelSignature:
        """The kernel's parameters, from the compiler; compiles on first use."""
        if self._signature is None:
            self._signature = self.module._code.signature(self.name)
        return self._signature

    @property
    def attributes(self) -> FunctionAttributes:
        """Registers, memory and thread limit on the default GPU target.

        Without a GPU they are what the compiler reports, and None for what it does not.
        """
        target = default_target("cuda", self.module.options)
        if not has_device():
            return self.module._code.attributes(self.name, target)
        return self._load().attributes(target.arch)

    def occupancy(
        self, block: int | Sequence[int], shared_mem_bytes: int = 0
    ) -> Occupancy:
        """Returns how full blocks of this size make a multiprocessor. Needs a GPU.

        Args:
          block: Threads per block, or its extents.
          shared_mem_bytes: Dynamic shared memory per block, in bytes.
        """
        threads = block if isinstance(block, int) else math.prod(block)
        if not 1 <= threads <= MAX_THREADS:
            raise ValidationError(
                f"{self.name}: block={block!r} has {threads} threads; 1 to "
                f"{MAX_THREADS} are needed."
            )
        return self._load().occupancy(threads, shared_mem_bytes)

    def suggest_block(self, shared_mem_bytes: int = 0) -> int:
        """Returns the threads per block with the best occupancy. Needs a GPU."""
        return self._load().suggest_block(shared_mem_bytes)

    def image(self, target: Target) -> ModuleImage:
        """Returns the image that holds this kernel for `target`."""
        return self.module._code.image(self.name, target)

    def lowered_name(self, target: Target) -> str:
        """Returns the kernel's symbol in that image."""
        return self.module._code.symbol(self.name, target)

    def _load(self) -> LoadedKernel:
        require_device(self.name)
        target = default_target("cuda", self.module.options)
        image = self.image(target).data
        return LoadedKernel(self.name, image, self.lowered_name(target))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[bytes, str]:
        return self.module.digest, self.name

    def __repr__(self) -> str:
        shown = self._signature or repr(self.name)  # no compilation for a look
        return f"Function({shown})"

    def _repr_html_(self) -> str:
        from ._html import function_table

        return function_table(self.signature, self.attributes)


class Module:
    """CUDA code with kernels in it. Equal when the contents are equal.

    Attributes:
      digest: SHA-256 of all that the compiled code depends on.
      options: Of the compiler; None for PTX and cubins.
      source: The CUDA C++ text; None for PTX and cubins.
    """

    __slots__ = ("_code", "digest", "options", "source")

    def __init__(
        self,
        code: Code,
        digest: bytes,
        options: NvrtcOptions | None = None,
        source: str | None = None,
    ) -> None:
        self._code = code
        self.digest = digest
        self.options = options
        self.source = source

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """The kernels that can be seen without compiling, templates included."""
        return self._code.kernel_names

    def only_kernel_name(self) -> str:
        """Returns the kernel's name; a ValidationError unless there is one."""
        names = self.kernel_names
        if len(names) != 1:
            raise ValidationError(
                f"{self._code.name}: {len(names)} kernels ({', '.join(names)}); "
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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Module) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Module({self._code.name!r}, kernels={list(self.kernel_names)})"


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
        text, location, directory = source, None, None
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
    data = Path(cubin).read_bytes() if isinstance(cubin, os.PathLike) else bytes(cubin)
    code = CubinCode(data, _declared(signature))
    return Module(code, _image_digest("cubin", data, signature))


def _declared(signature: str | Sequence[str] | None) -> dict[str, Declared]:
    texts = [signature] if isinstance(signature, str) else signature or ()
    return {found.kernel: found for found in map(parse_signature, texts)}


def _image_digest(
    kind: str, data: bytes, signature: str | Sequence[str] | None
) -> bytes:
    return bytes.fromhex(fingerprint(kind, data, repr(signature)))
