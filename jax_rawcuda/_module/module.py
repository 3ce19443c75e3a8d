"""Module: source, PTX or a cubin, with kernels and variables in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._base.cache import fingerprint
from .._base.errors import ValidationError
from .._compile.target import Target, default_target
from .._device.driver import has_device, require_device
from .._device.loaded_kernel import FunctionAttributes, LoadedKernel, Occupancy
from .._source.options import NvrtcOptions
from .._types.launch import MAX_THREADS
from .._types.signature import KernelSignature
from .code import Code, ModuleImage
from .variables import Values, VariableType


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


def _value_digest(content: bytes, values: Values) -> bytes:
    return bytes.fromhex(fingerprint("values", content, repr(values)))


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

        Raises:
          ValidationError: No block has that many threads.
          UnsupportedError: There is no GPU.
        """
        threads = block if isinstance(block, int) else math.prod(block)
        if not 1 <= threads <= MAX_THREADS:
            raise ValidationError(
                f"{self.name}: block={block!r} has {threads} threads; 1 to "
                f"{MAX_THREADS} are needed."
            )
        return self._load().occupancy(threads, shared_mem_bytes)

    def suggest_block(self, shared_mem_bytes: int = 0) -> int:
        """Returns the threads per block with the best occupancy. Needs a GPU.

        Args:
          shared_mem_bytes: Dynamic shared memory per block, in bytes.

        Raises:
          UnsupportedError: There is no GPU.
        """
        return self._load().suggest_block(shared_mem_bytes)

    def image(self, target: Target) -> ModuleImage:
        """Returns the image that holds this kernel; compiles it on first use.

        Args:
          target: Platform and architecture.
        """
        return self.module._code.image(self.name, target, self.module.values)

    def ptx(self, target: Target) -> str | None:
        """Returns the PTX text that the image is made of; None for a cubin.

        Args:
          target: Platform and architecture.
        """
        return self.module._code.ptx(self.name, target)

    @property
    def flags(self) -> tuple[str, ...]:
        """NVRTC's, of the compilation that made the PTX; () for finished images."""
        options = self.module.options
        return tuple(options.flags()) if options else ()

    def lowered_name(self, target: Target) -> str:
        """Returns the kernel's symbol in an image.

        Args:
          target: What the image is for.
        """
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
        from .html import function_table

        return function_table(self.signature, self.attributes)


class GlobalVariable:
    """A variable of a module. Made by `Module.global_`.

    Attributes:
      module: Where it is.
      name: As it was asked for, such as `ns::coefficients`.
      type: What it holds.
    """

    __slots__ = ("module", "name", "type")

    def __init__(self, module: Module, name: str, type_: VariableType) -> None:
        self.module = module
        self.name = name
        self.type = type_

    def set(self, value: Any) -> Module:
        """Returns the module with another first value of the variable.

        The value is part of the program: each device gets it once, before the first
        launch. What kernels write to the variable stays, for every program with an
        equal module, until the last of them is dropped.
        For tables rather than data: XLA takes a tenth of a second per megabyte.

        Args:
          value: An array of the variable's own dtype and shape, or flat; a Python
            number for a single value; a NumPy record, or bytes, for a struct.

        Raises:
          SignatureError: It has another dtype, or is traced.
          ValidationError: It has another size or shape.
        """
        owner = f"{self.module.name}: variable '{self.name}'"
        return self.module.with_value(self.name, self.type.pack(owner, value))

    def __repr__(self) -> str:
        base, bracket, extents = self.type.spelling.partition("[")
        return f"GlobalVariable({base.strip() or '?'} {self.name}{bracket}{extents})"
