"""CUDA C++ text as the code of a module."""

from __future__ import annotations

import dataclasses
import operator

from .._base import settings
from .._base.errors import CompileError, SignatureError, ValidationError
from .._compile import nvrtc
from .._compile.compilation import compile_program, probe_variable
from .._compile.compiler import CLANG, Compiler, nvrtc_for
from .._compile.diagnostics import unknown_kernel, unreachable_variable
from .._compile.entries import Kernel, list_kernels, matching, spelled
from .._compile.frontends import Names
from .._compile.image import ptx_variables
from .._compile.program import Program
from .._compile.result import CompileResult
from .._compile.target import COMMON_ARCH, Target, source_arch
from .._device.loaded_kernel import FunctionAttributes
from .._types.launch import MAX_THREADS
from .._types.signature import KernelSignature, make_signature
from .code import ModuleImage
from .variables import Values, VariableType, read_type, symbols_of


class SourceCode:
    """CUDA C++, compiled per architecture and set of template instances."""

    def __init__(self, program: Program) -> None:
        self.name = program.name
        self._program = program
        self._results: dict[tuple[Compiler, Names, Names], CompileResult] = {}
        self._kernels: dict[tuple[Compiler, Names], list[Kernel]] = {}
        self._instances: dict[str, tuple[str, ...]] = {}

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """The kernels that the text spells out; if there are none, its headers.

        What macros make is not among them.
        """
        spelled_out = self._program.kernels or self._program.declared
        return tuple(dict.fromkeys(kernel.name for kernel in spelled_out))

    def check(self, name: str) -> None:
        """Compiles, unless the text alone shows the kernel."""
        declared = [k for k in self._program.kernels if k.is_named(name)]
        if len(declared) != 1 or declared[0].template:
            self._find(name, self._reader())

    def compile(self) -> None:
        """Compiles the kernels that are no templates; raises if there is no kernel."""
        kernels = self._program.kernels
        if kernels and all(kernel.template for kernel in kernels):
            return
        if not self._list(self._reader(), ()) and not kernels:
            raise ValidationError(
                f"{self.name}: no kernels in the source. Add a __global__ function."
            )

    def signature(self, name: str) -> KernelSignature:
        """Returns what NVRTC says, or clang where NVRTC is not installed."""
        kernel = self._find(name, self._reader())
        if kernel.types is None:
            raise SignatureError(
                f"{name}: the compiler does not tell the kernel's type. Declare it "
                'without extern "C", or at namespace scope without a macro.'
            )
        declaration = self._program.declaration(name, len(kernel.types))
        names = declaration.parameters if declaration else ()
        return make_signature(name, kernel.types, kernel.entry.parameters, names)

    def image(self, name: str, target: Target, values: Values = ()) -> ModuleImage:
        """Compiles for `target`; on the CPU with clang."""
        compiler = self._compiler(target)
        instances = self._instance(name, compiler)
        kernels = self._list(compiler, instances)
        names = [(kernel.name, kernel.entry.symbol) for kernel in kernels]
        if target.checked and compiler.kind == "clang":
            compiler = dataclasses.replace(compiler, checked=True)
        result = self._result(compiler, instances, values)
        variables = symbols_of(values, ptx_variables(result.ptx) if values else ())
        if target.platform == "cpu":
            return ModuleImage.of(result.ptx.encode(), "host_ptx", names, variables)
        if target.arch.startswith("compute_"):
            return ModuleImage.of(result.ptx.encode(), "ptx", names, variables)
        return ModuleImage.of(result.cubin, "cubin", names, variables)

    def ptx(self, name: str, target: Target) -> str:
        """Returns what the compiler made before machine code."""
        compiler = self._compiler(target)
        return self._result(compiler, self._instance(name, compiler)).ptx

    def variable(self, name: str) -> VariableType:
        """Returns what the compiler says; it compiles for that."""
        compiler = self._reader()
        result = probe_variable(self._program, compiler, name)
        ptx = self._result(compiler, ()).ptx if result is None else result.ptx
        found = {variable.name: variable for variable in ptx_variables(ptx)}
        types = dict(result.types) if result else {}
        if name not in types or name not in found:
            source = self._program.source
            raise ValidationError(unreachable_variable(self.name, name, found, source))
        return read_type(self.name, name, types[name], found[name])

    def symbol(self, name: str, target: Target) -> str:
        """Returns the mangled name."""
        return self._find(name, self._compiler(target)).entry.symbol

    def attributes(self, name: str, target: Target) -> FunctionAttributes:
        """Returns what ptxas reported."""
        compiler = self._compiler(target)
        entry = self._find(name, compiler).entry
        usage = dict(self._result(compiler, self._instance(name, compiler)).usage)
        found = usage.get(entry.symbol)
        reported = dataclasses.asdict(found) if found else {}
        return FunctionAttributes(
            compiler.arch, **reported, max_threads=entry.max_threads or MAX_THREADS
        )

    def _reader(self) -> Compiler:
        """The compiler that signatures come from."""
        if nvrtc.is_available():
            return nvrtc_for(source_arch(self._program.options))
        return CLANG

    def _compiler(self, target: Target) -> Compiler:
        """The compiler that makes images for a target."""
        if target.platform == "cuda":
            return nvrtc_for(target.arch)
        if settings.cpu_frontend() == "clang":
            return CLANG
        return nvrtc_for(COMMON_ARCH)

    def _result(
        self, compiler: Compiler, instances: Names, values: Values = ()
    ) -> CompileResult:
        # NVRTC leaves every variable's value to the host.
        clang = compiler.kind == "clang"
        free = tuple(name for name, _ in values) if clang else ()
        key = compiler, instances, free
        if key not in self._results:
            try:
                result = compile_program(self._program, compiler, instances, free)
            except CompileError as error:
                # The way through cache and compiler tells the user nothing.
                raise error.with_traceback(None) from None
            self._results[key] = result
        return self._results[key]

    def _list(self, compiler: Compiler, instances: tuple[str, ...]) -> list[Kernel]:
        key = compiler, instances
        if key not in self._kernels:
            self._kernels[key] = list_kernels(self._result(compiler, instances))
        return self._kernels[key]

    def _instance(self, name: str, compiler: Compiler) -> tuple[str, ...]:
        """The template instances to compile along for a kernel: itself, or none."""
        if name not in self._instances:
            declaration = self._program.declaration(name)
            if "<" in name or (declaration is not None and declaration.template):
                self._instances[name] = (name,)
            elif name.endswith(")"):  # an overload, which no expression names
                self._instances[name] = ()
            else:  # a static kernel is compiled only when it is named
                found = matching(self._list(compiler, ()), name)
                self._instances[name] = () if found else (name,)
        return self._instances[name]

    def _find(self, name: str, compiler: Compiler) -> Kernel:
        found = matching(self._list(compiler, self._instance(name, compiler)), name)
        if len(found) > 1:
            listed = ", ".join(map(spelled, found))
            raise ValidationError(
                f"{self.name}: {name!r} is overloaded: {listed}. Name one of these."
            )
        if not found:
            show = spelled if name.endswith(")") else operator.attrgetter("name")
            known = map(show, self._list(compiler, ()))
            message = unknown_kernel(self.name, name, [*self.kernel_names, *known])
            raise ValidationError(message)
        return found[0]
