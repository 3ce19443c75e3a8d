"""Program: a source text with its options; compiled by NVRTC, or by clang."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
from collections.abc import Callable, Sequence
from typing import NoReturn

from . import _cache, _nvrtc
from ._declarations import KernelDeclaration, find_kernels
from ._diagnostics import failure, unknown_kernel, with_hints
from ._errors import CompileError, ValidationError
from ._headers import auto_includes, headers_key
from ._image import Entry, ptx_entries
from ._nvrtc import NvrtcFailure, NvrtcOptions, NvrtcResult
from ._shims import SHIMS
from ._source import Location, line_directive

# clang takes the first value of a static `__constant__` variable for its only one.
_FREE_VARIABLES = "#undef __constant__\n#define __constant__ __device__\n"

_LINES_MATTER = re.compile(r"\b(?:assert|__LINE__|__FILE__|__builtin_(?:LINE|FILE))\b")

Names = tuple[str, ...]
_Run = Callable[[Names, Names], NvrtcResult]  # of (expressions, probes)


@dataclasses.dataclass(frozen=True, slots=True)
class Program:
    """A text to compile.

    Attributes:
      name: What messages call it: the name given, a file's name or its first kernel.
      source: The user's text.
      options: For the compiler.
      location: Where the text stands in the user's file, when that is known.
      include_dir: The directory of the file that the text came from.
      kernels: The `__global__` functions that the text spells out.
    """

    name: str
    source: str
    options: NvrtcOptions
    location: Location | None = None
    include_dir: str | None = None
    kernels: tuple[KernelDeclaration, ...] = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernels", find_kernels(self.source))

    @property
    def include_dirs(self) -> tuple[str, ...]:
        """The user's directories; last, that of the file itself."""
        own = (self.include_dir,) if self.include_dir else ()
        return (*self.options.include_paths, *own)

    @property
    def file_name(self) -> str:
        """What the compiler calls the text where no `#line` says otherwise."""
        return self.name if "." in self.name else f"{self.name}.cu"

    @property
    def lines_matter(self) -> bool:
        """Whether the compiled code holds line numbers or file names."""
        options = self.options
        stated = options.line_info or options.debug
        return stated or _LINES_MATTER.search(self.source) is not None

    def text(self, expressions: Sequence[str] = ()) -> str:
        """Returns the source with what has to stand in front of it."""
        includes = auto_includes(self.source, expressions)
        front = "".join(f"#include <{name}>\n" for name in includes)
        location = self.location or Location(self.file_name, 1)
        return f"{front}{line_directive(location)}{self.source}\n"

    def declaration(
        self, name: str, parameters: int | None = None
    ) -> KernelDeclaration | None:
        """Returns what the text says of a kernel, by name or name expression.

        Args:
          name: Such as `ns::scale<float>`, or `scale(float*)` for an overload.
          parameters: Their number, to choose between overloads.
        """
        base = re.split(r"[<(]", name)[0]
        for kernel in self.kernels:
            if kernel.name == base and parameters in (None, len(kernel.parameters)):
                return kernel
        return None

    def content_key(self, *extra: str) -> str:
        """Returns a digest of all that the compiled code depends on, and of `extra`.

        Lines are left out where the code cannot tell them: a kernel that moves in its
        file is not compiled again.
        """
        text = self.text(extra)
        options = dataclasses.replace(self.options, include_dirs=())
        place = (self.location, self.file_name) if self.lines_matter else None
        return _cache.fingerprint(
            self.source,
            repr((options, place, auto_includes(self.source, extra))),
            repr(SHIMS),
            *headers_key(text, self.options.header_texts, self.include_dirs),
            *extra,
        )

    def compile(self, arch: str, expressions: Sequence[str] = ()) -> NvrtcResult:
        """Compiles with NVRTC, or finds the result in a cache.

        Args:
          arch: Such as `sm_90`.
          expressions: Kernels to instantiate, beside those that are no templates.

        Raises:
          CompileError: The text does not compile.
          ValidationError: NVRTC does not know `arch`, or the text has no such kernel.
        """
        _nvrtc.check_arch(arch)
        key = self.content_key("nvrtc", repr(_nvrtc.version()), arch, *expressions)
        run = functools.partial(self._run_nvrtc, arch)
        encoded = _cache.lookup(
            "nvrtc", key, lambda: self._settle(run, tuple(expressions)).encode()
        )
        return NvrtcResult.decode(encoded)

    def compile_for_host(
        self, expressions: Sequence[str] = (), variables: Sequence[str] = ()
    ) -> NvrtcResult:
        """Compiles with clang for the CPU route; the result has no cubin.

        Args:
          expressions: As for `compile`.
          variables: Those whose first value the text does not decide.

        Raises:
          CompileError: The text does not compile.
          ValidationError: The text has no such kernel.
          UnsupportedError: There is no clang.
        """
        run = functools.partial(self._run_clang, tuple(variables))
        return self._settle(run, tuple(expressions))

    def probe_variable(self, compiler: str, name: str) -> NvrtcResult | None:
        """Compiles, and asks for the type of a variable's address.

        Args:
          compiler: An architecture for NVRTC, `host` for clang.
          name: The variable's.

        Returns:
          A result with one type; None when there is no such variable.
        """
        run: _Run = functools.partial(self._run_nvrtc, compiler)
        version = repr(_nvrtc.version()) if compiler != "host" else ""
        if compiler == "host":
            run = functools.partial(self._run_clang, ())
        key = self.content_key("variable", version, compiler, name)

        def probe() -> bytes:
            try:
                return run((), (name,)).encode()
            except _NameFailure:
                return b""

        encoded = _cache.lookup("nvrtc", key, probe) if version else probe()
        return NvrtcResult.decode(encoded) if encoded else None

    def _settle(self, run: _Run, expressions: Names) -> NvrtcResult:
        """Compiles once; again only when a guess from the text was wrong."""
        probes = tuple(k.name for k in self.kernels if k.c_linkage and not k.template)
        try:
            try:
                result = run(expressions, probes)
            except _NameFailure:
                if not probes:
                    raise
                # Some `extern "C"` kernel is under an `#if`, or a name is wrong.
                present = {entry.symbol for entry in kernel_entries(run((), ()).ptx)}
                probes = tuple(p for p in probes if p.split("::")[-1] in present)
                result = run(expressions, probes)
        except _NameFailure as error:
            self._fail_names(expressions, str(error))
        if untyped := _untyped_symbols(result):  # `extern "C"` out of a macro
            with contextlib.suppress(_NameFailure):
                return run(expressions, (*probes, *untyped))
        return result

    def _run_nvrtc(self, arch: str, expressions: Names, probes: Names) -> NvrtcResult:
        front = _nvrtc.PROBE_DECLARATION if probes or expressions else ""
        try:
            return _nvrtc.compile_text(
                front + self.text(expressions),
                program_name=self.file_name,
                arch=arch,
                flags=self.options.flags(),
                include_dirs=self.include_dirs,
                headers=self.options.header_texts,
                expressions=expressions,
                probes=(*probes, *expressions),
            )
        except NvrtcFailure as error:
            if reasons := _name_errors(error.log, "__nv_name_map"):
                raise _NameFailure(reasons[0]) from None
            compiler = f"NVRTC {_nvrtc.version_text()}"
            flags = self.options.flags()
            message = failure(self.name, arch, compiler, flags, error.log)
            raise CompileError(
                message, error.log, self.source, error.flags, arch
            ) from None

    def _run_clang(
        self, variables: Names, expressions: Names, probes: Names
    ) -> NvrtcResult:
        from .cpu import compile_source

        front = _FREE_VARIABLES if variables else ""
        try:
            result = compile_source(
                front + self.text(expressions),
                program_name=self.file_name,
                std=self.options.std,
                defines=self.options.macros,
                include_dirs=self.include_dirs,
                headers=self.options.header_texts,
                fast_math=self.options.fast_math,
                # A variable whose address is taken may change.
                name_expressions=(*variables, *probes, *expressions),
            )
        except CompileError as error:
            if reasons := _name_errors(error.log, "name expression"):
                raise _NameFailure(reasons[0]) from None
            message = with_hints(str(error), error.log)
            raise CompileError(
                message, error.log, error.source, error.options, error.arch
            ) from None
        lowered = tuple((name, result.lowered_names[name]) for name in expressions)
        types = tuple((n, t) for n, t in result.demangled.items() if n not in variables)
        return NvrtcResult(b"", result.ptx, lowered, types, log=result.log)

    def _fail_names(self, expressions: Names, reason: str) -> NoReturn:
        known = [kernel.name for kernel in self.kernels]
        for expression in expressions:
            if self.declaration(expression) is None:
                message = unknown_kernel(self.name, expression, known)
                raise ValidationError(message) from None
        listed = ", ".join(map(repr, expressions))
        raise ValidationError(
            f"{self.name}: no kernel fits {listed}: {reason}. Write template "
            'arguments as in C++, such as "scale<float, 4>".'
        ) from None


class _NameFailure(Exception):
    """The text compiles, but a kernel asked for by name is not in it."""


def kernel_entries(ptx: str) -> list[Entry]:
    """Lists the user's kernels in PTX text, without our probes."""
    return [entry for entry in ptx_entries(ptx) if _nvrtc.PROBE not in entry.symbol]


def _untyped_symbols(result: NvrtcResult) -> Names:
    """Lists the kernels whose types neither the symbol nor a probe tells."""
    typed = {name.split("::")[-1] for name, _ in result.types}
    return tuple(
        entry.symbol
        for entry in kernel_entries(result.ptx)
        if entry.symbol not in typed and not entry.symbol.startswith("_Z")
    )


def _name_errors(log: str, marker: str) -> list[str]:
    """Returns the reasons when all errors are about names, none about the text."""
    errors = [
        line.split("error: ", 1) for line in log.splitlines() if "error: " in line
    ]
    if any(marker not in place for place, _ in errors):
        return []
    return [reason.rstrip(".") for _, reason in errors]
