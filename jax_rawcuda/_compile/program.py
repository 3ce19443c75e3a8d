"""Program: a source text with its options; compiled by NVRTC, or by clang."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import uuid
from collections.abc import Callable, Sequence
from typing import NoReturn

from .._base import cache
from .._base.errors import ValidationError
from .._source.declarations import KernelDeclaration, find_kernels
from .._source.headers import AUTO_INCLUDES, auto_includes, cuda_headers_version
from .._source.includes import Includes, find_includes
from .._source.options import NvrtcOptions
from .._source.shims import SHIMS
from .._source.text import Location, line_directive
from . import nvrtc
from .compilation import _Run, _untyped_symbols, kernel_entries
from .diagnostics import unknown_kernel
from .frontends import NameFailure, Names, frontend
from .result import NvrtcResult

_LINES = re.compile(r"\b(?:assert|__LINE__|__FILE__|__builtin_(?:LINE|FILE))\b")


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
      declared: Those of the user's headers as well.
      includes: The headers as they are when the program is made. It compiles no others.
      lines_matter: Whether the compiled code holds line numbers or file names.
    """

    name: str
    source: str
    options: NvrtcOptions
    location: Location | None = None
    include_dir: str | None = None
    kernels: tuple[KernelDeclaration, ...] = dataclasses.field(init=False, repr=False)
    declared: tuple[KernelDeclaration, ...] = dataclasses.field(init=False, repr=False)
    includes: Includes = dataclasses.field(init=False, repr=False)
    lines_matter: bool = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        found = self._find_includes()
        lines = any(map(_LINES.search, (*found.texts, *self.options.macros.values())))
        declaring = [text for text in found.texts[1:] if "__global__" in text]
        values: dict[str, object] = {
            "kernels": find_kernels(self.source, macros=found.macros),
            "declared": find_kernels(self.source, *declaring, macros=found.macros),
            "includes": dataclasses.replace(found, texts=()),  # they may be large
            "lines_matter": lines or self.options.line_info or self.options.debug,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def include_dirs(self) -> tuple[str, ...]:
        """The user's directories; last, that of the file itself."""
        own = (self.include_dir,) if self.include_dir else ()
        return (*self.options.include_paths, *own)

    @property
    def file_name(self) -> str:
        """What the compiler calls the text where no `#line` says otherwise."""
        return self.name if "." in self.name else f"{self.name}.cu"

    def text(self, expressions: Sequence[str] = ()) -> str:
        """Returns the source with what has to stand in front of it."""
        includes = auto_includes(self.source, expressions)
        front = "".join(f"#include <{name}>\n" for name in includes)
        location = self.location or Location(self.file_name, 1)
        return f"{front}{line_directive(location)}{self.source}\n"

    def declaration(
        self, name: str, parameters: int | None = None
    ) -> KernelDeclaration | None:
        """Returns what the texts say of a kernel, by name or name expression.

        Args:
          name: Such as `ns::scale<float>`, or `scale(float*)` for an overload.
          parameters: Their number, to choose between overloads.
        """
        base = re.split(r"[<(]", name)[0]
        fitting = [
            kernel
            for kernel in self.declared
            if parameters in (None, len(kernel.parameters))
        ]
        named = [kernel for kernel in fitting if kernel.is_named(base)]
        # The symbol of an `extern "C"` kernel has no namespace.
        named += [k for k in fitting if k.c_linkage and k.name.endswith(f"::{base}")]
        return named[0] if named else None

    def content_key(self, *extra: str) -> str:
        """Returns a digest of all that the compiled code depends on, and of `extra`.

        Lines are left out where the code cannot tell them: a kernel that moves in its
        file is not compiled again.
        """
        options = dataclasses.replace(self.options, include_dirs=())
        return cache.fingerprint(
            self.source,
            repr((options, auto_includes(self.source, extra))),
            repr(self.place if self.lines_matter else None),
            repr(SHIMS),
            cuda_headers_version(),
            *self.includes.key,
            # Nobody knows which headers a computed include opens: compile each time.
            "" if self.includes.is_complete else uuid.uuid4().hex,
            *extra,
        )

    @property
    def place(self) -> tuple[object, ...]:
        """The files that lines are told of."""
        return self.location, self.file_name, self.include_dirs

    def _find_includes(self) -> Includes:
        automatic = "".join(f"#include <{name}>\n" for name in AUTO_INCLUDES)
        texts = self.source, *self.options.header_texts.values(), automatic
        return find_includes(texts, self.include_dirs, self.options.macros)

    def _check_includes(self) -> None:
        """Raises when the headers are not, or no longer, those of the key."""
        now = self._find_includes()
        if now.key != self.includes.key:
            files = ", ".join(self.includes.changed(now)) or "a header"
            raise ValidationError(
                f"{self.name}: {files} changed since the source was given, which "
                "compiles only as it was. Make the kernel or module again."
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
        nvrtc.check_arch(arch)
        return self._compile(arch, tuple(expressions))

    def compile_for_host(
        self,
        expressions: Sequence[str] = (),
        variables: Sequence[str] = (),
        *,
        checked: bool = False,
    ) -> NvrtcResult:
        """Compiles with clang for the CPU route; the result has no cubin.

        Args:
          expressions: As for `compile`.
          variables: Those whose first value the text does not decide.
          checked: Whether accesses must have the alignment that their type asks for.

        Raises:
          CompileError: The text does not compile.
          ValidationError: The text has no such kernel.
          UnsupportedError: There is no clang.
        """
        compiler = "checked" if checked else "host"
        return self._compile(compiler, tuple(expressions), tuple(variables))

    def probe_variable(self, compiler: str, name: str) -> NvrtcResult | None:
        """Compiles, and asks for the type of a variable's address.

        Args:
          compiler: An architecture for NVRTC, `host` for clang.
          name: The variable's.

        Returns:
          A result with one type; None when there is no such variable.
        """
        kind, identity, run = frontend(self, compiler)

        def probe() -> bytes:
            try:
                return run((), (name,)).encode()
            except NameFailure:
                return b""

        encoded = self._keep(kind, ("variable", *identity, name), probe)
        return NvrtcResult.decode(encoded) if encoded else None

    def _compile(
        self, compiler: str, expressions: Names, variables: Names = ()
    ) -> NvrtcResult:
        kind, identity, run = frontend(self, compiler, variables)
        encoded = self._keep(
            kind,
            (kind, *identity, *expressions),
            lambda: self._settle(run, expressions).encode(),
        )
        return NvrtcResult.decode(encoded)

    def _keep(self, kind: str, extra: Names, make: Callable[[], bytes]) -> bytes:
        """Returns what `make` does, now or before, with the headers of the key."""

        def checked() -> bytes:
            made = make()
            self._check_includes()
            return made

        if not self.includes.is_complete:
            return checked()
        return cache.lookup(kind, self.content_key(*extra), checked)

    def _settle(self, run: _Run, expressions: Names) -> NvrtcResult:
        """Compiles once; again only when a guess from the text was wrong."""
        probes = tuple(k.name for k in self.kernels if k.c_linkage and not k.template)
        try:
            try:
                result = run(expressions, probes)
            except NameFailure:
                if not probes:
                    raise
                # Some `extern "C"` kernel is under an `#if`, or a name is wrong.
                present = {entry.symbol for entry in kernel_entries(run((), ()).ptx)}
                probes = tuple(p for p in probes if p.split("::")[-1] in present)
                result = run(expressions, probes)
        except NameFailure as error:
            self._fail_names(expressions, str(error))
        if untyped := _untyped_symbols(result):  # `extern "C"` out of a macro
            with contextlib.suppress(NameFailure):
                return run(expressions, (*probes, *untyped))
        return result

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
