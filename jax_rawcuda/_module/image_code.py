"""The other kinds of code of a module: finished images, PTX text and cubins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from .._base.errors import SignatureError, UnsupportedError, ValidationError
from .._compile.cubin import cubin_entries, cubin_variables
from .._compile.diagnostics import unknown_kernel, unknown_variable
from .._compile.entries import Kernel, matching, typed
from .._compile.image import Entry, ImageVariable, ptx_entries, ptx_variables
from .._compile.target import Target
from .._device.loaded_kernel import FunctionAttributes
from .._source.declared import Declared
from .._types.launch import MAX_THREADS
from .._types.signature import KernelSignature, make_signature
from .code import ModuleImage
from .variables import Values, VariableType, symbols_of


class _ImageCode:
    """Kernels typed by their symbols, or by the user."""

    _text = ""  # if it is one

    def __init__(
        self,
        name: str,
        entries: Sequence[Entry],
        variables: Sequence[ImageVariable],
        declared: Mapping[str, Declared],
    ) -> None:
        self.name = name
        self._variables = variables
        self._declared = declared
        self._kernels = [typed(entry, {}) for entry in entries]
        if not self._kernels:
            raise ValidationError(f"{name}: no kernels in the image.")
        for kernel in declared:
            self._find(kernel)

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """The kernels, by the names that their symbols spell."""
        return tuple(kernel.name for kernel in self._kernels)

    def check(self, name: str) -> None:
        """Raises unless there is such a kernel."""
        self._find(name)

    def symbol(self, name: str, target: Target) -> str:  # noqa: ARG002
        """Returns the kernel's symbol."""
        return self._find(name).entry.symbol

    def signature(self, name: str) -> KernelSignature:
        """Joins the types, from the symbol or the user, with the image's sizes."""
        kernel = self._find(name)
        declared = self._declared.get(name) or self._declared.get(kernel.name)
        if declared is not None:
            entry = kernel.entry.parameters
            return make_signature(name, declared.types, entry, declared.names)
        if kernel.types is None:
            raise SignatureError(
                f'{name}: an extern "C" kernel of a finished image has no types. Give '
                f'{self.name}(..., signature="{name}(const float*, float*, int)").'
            )
        return make_signature(name, kernel.types, kernel.entry.parameters)

    def attributes(self, name: str, target: Target) -> FunctionAttributes:
        """Returns what the image says, which is not all."""
        entry = self._find(name).entry
        return FunctionAttributes(
            target.arch,
            registers=entry.registers,
            local_bytes=entry.local_bytes,
            max_threads=entry.max_threads or MAX_THREADS,
        )

    def variable(self, name: str) -> VariableType:
        """Returns its size; a finished image does not tell types."""
        for variable in self._variables:
            if name in (variable.name, variable.symbol):
                return VariableType("", variable.size)
        known = [variable.name for variable in self._variables]
        raise ValidationError(unknown_variable(self.name, name, known, self._text))

    def _symbols(self) -> list[tuple[str, str]]:
        return [(kernel.name, kernel.entry.symbol) for kernel in self._kernels]

    def _find(self, name: str) -> Kernel:
        found = matching(self._kernels, name)
        if not found:
            raise ValidationError(unknown_kernel(self.name, name, self.kernel_names))
        return found[0]


class PtxCode(_ImageCode):
    """PTX text; runs on any GPU from its own architecture on, and on the CPU."""

    def __init__(self, text: str, declared: Mapping[str, Declared]) -> None:
        entries, variables = ptx_entries(text), ptx_variables(text)
        super().__init__("load_ptx", entries, variables, declared)
        self._text = text
        self._data = text.encode()

    def image(self, name: str, target: Target, values: Values = ()) -> ModuleImage:
        """Returns the text as it is."""
        self.check(name)
        kind: Literal["host_ptx", "ptx"] = "ptx"
        if target.platform == "cpu":
            kind = "host_ptx"
        variables = symbols_of(values, self._variables)
        return ModuleImage.of(self._data, kind, self._symbols(), variables)

    def ptx(self, name: str, target: Target) -> str:  # noqa: ARG002
        """Returns the text."""
        self.check(name)
        return self._text


class CubinCode(_ImageCode):
    """A cubin; runs on the GPUs of its architecture."""

    def __init__(self, data: bytes, declared: Mapping[str, Declared]) -> None:
        entries, variables = cubin_entries(data), cubin_variables(data)
        super().__init__("load_cubin", entries, variables, declared)
        self._data = data

    def image(self, name: str, target: Target, values: Values = ()) -> ModuleImage:
        """Returns the bytes as they are."""
        self.check(name)
        if target.platform == "cpu":
            raise UnsupportedError(
                f"{name}: a cubin is machine code of a GPU and cannot run on the CPU. "
                "Give its source to compile_nvrtc, or its PTX to load_ptx."
            )
        variables = symbols_of(values, self._variables)
        return ModuleImage.of(self._data, "cubin", self._symbols(), variables)

    def ptx(self, name: str, target: Target) -> None:
        """There is none."""
