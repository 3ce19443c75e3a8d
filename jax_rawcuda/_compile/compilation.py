"""Compiles programs: once per key, again where a guess from the text was wrong."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import NoReturn

from .._base import cache
from .._base.errors import ValidationError
from . import nvrtc
from .compiler import Compiler
from .diagnostics import unknown_kernel
from .frontends import NameFailure, Names, Run, frontend
from .image import Entry, ptx_entries
from .program import Program
from .result import CompileResult


def compile_program(
    program: Program,
    compiler: Compiler,
    expressions: Sequence[str] = (),
    variables: Sequence[str] = (),
) -> CompileResult:
    """Compiles a program, or finds the result in a cache.

    Args:
      program: What to compile.
      compiler: With what. The result of clang has no cubin.
      expressions: Kernels to instantiate, beside those that are no templates.
      variables: For clang, those whose first value the text does not decide.

    Raises:
      CompileError: The text does not compile.
      ValidationError: NVRTC does not know the architecture, or the text has no such
        kernel.
      UnsupportedError: There is no clang.
    """
    if compiler.kind == "nvrtc":
        nvrtc.check_arch(compiler.arch)
    names = tuple(expressions)
    kind, identity, run = frontend(program, compiler, tuple(variables))
    encoded = _keep(
        program,
        kind,
        (kind, *identity, *names),
        lambda: _settle(program, run, names).encode(),
    )
    return CompileResult.decode(encoded)


def probe_variable(
    program: Program, compiler: Compiler, name: str
) -> CompileResult | None:
    """Compiles, and asks for the type of a variable's address.

    Args:
      program: What to compile.
      compiler: With what.
      name: The variable's.

    Returns:
      A result with one type; None when there is no such variable.
    """
    kind, identity, run = frontend(program, compiler)

    def probe() -> bytes:
        try:
            return run((), (name,)).encode()
        except NameFailure:
            return b""

    encoded = _keep(program, kind, ("variable", *identity, name), probe)
    return CompileResult.decode(encoded) if encoded else None


def kernel_entries(ptx: str) -> list[Entry]:
    """Lists the user's kernels in PTX text, without our probes."""
    return [entry for entry in ptx_entries(ptx) if nvrtc.PROBE not in entry.symbol]


def _keep(
    program: Program, kind: str, extra: Names, make: Callable[[], bytes]
) -> bytes:
    """Returns what `make` does, now or before, with the headers of the key."""

    def checked() -> bytes:
        made = make()
        program.check_includes()
        return made

    if not program.includes.is_complete:
        return checked()
    return cache.lookup(kind, program.content_key(*extra), checked)


def _settle(program: Program, run: Run, expressions: Names) -> CompileResult:
    """Compiles once; again only when a guess from the text was wrong."""
    probes = tuple(k.name for k in program.kernels if k.c_linkage and not k.template)
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
        _fail_names(program, expressions, str(error))
    if untyped := _untyped_symbols(result):  # `extern "C"` out of a macro
        with contextlib.suppress(NameFailure):
            return run(expressions, (*probes, *untyped))
    return result


def _fail_names(program: Program, expressions: Names, reason: str) -> NoReturn:
    known = [kernel.name for kernel in program.kernels]
    for expression in expressions:
        if program.declaration(expression) is None:
            message = unknown_kernel(program.name, expression, known)
            raise ValidationError(message) from None
    listed = ", ".join(map(repr, expressions))
    raise ValidationError(
        f"{program.name}: no kernel fits {listed}: {reason}. Write template "
        'arguments as in C++, such as "scale<float, 4>".'
    ) from None


def _untyped_symbols(result: CompileResult) -> Names:
    """Lists the kernels whose types neither the symbol nor a probe tells."""
    typed = {name.split("::")[-1] for name, _ in result.types}
    return tuple(
        entry.symbol
        for entry in kernel_entries(result.ptx)
        if entry.symbol not in typed and not entry.symbol.startswith("_Z")
    )
