"""NVRTC and clang: what each makes of a program, and what that depends on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from .._base.errors import CompileError
from .._source.flags import clang_flags
from . import nvrtc
from .compiler import Compiler
from .diagnostics import failure, with_hints
from .nvrtc import NvrtcFailure
from .program import Program
from .result import CompileResult

Names = tuple[str, ...]

# clang takes the first value of a static `__constant__` variable for its only one.
_FREE_VARIABLES = "#undef __constant__\n#define __constant__ __device__\n"


class NameFailure(Exception):
    """The text compiles, but a kernel asked for by name is not in it."""


Run = Callable[[Names, Names], CompileResult]  # of (expressions, probes)


class Frontend(NamedTuple):
    """A compiler of programs.

    Attributes:
      kind: Of its results, in the cache.
      identity: What else than the program its results depend on.
      run: Compiles; of (expressions, probes). Raises `NameFailure`.
    """

    kind: str
    identity: Names
    run: Run


def frontend(program: Program, compiler: Compiler, variables: Names = ()) -> Frontend:
    """Returns what compiles a program.

    Args:
      program: What to compile.
      compiler: With what.
      variables: For clang, those whose first value the text does not decide.

    Raises:
      UnsupportedError: The compiler is not there.
    """
    if compiler.kind == "nvrtc":
        arch = compiler.arch
        run: Run = functools.partial(_run_nvrtc, program, arch)
        return Frontend("nvrtc", (repr(nvrtc.version()), arch), run)
    from ..cpu import clang_identity

    # A fault on the CPU tells its line.
    depends = repr((variables, program.place, compiler.checked))
    run = functools.partial(_run_clang, program, variables, compiler.checked)
    return Frontend("clang", (clang_identity(), depends), run)


def _run_nvrtc(
    program: Program, arch: str, expressions: Names, probes: Names
) -> CompileResult:
    front = nvrtc.PROBE_DECLARATION if probes or expressions else ""
    flags = program.options.flags()
    try:
        return nvrtc.compile_text(
            front + program.text(expressions),
            program_name=program.file_name,
            arch=arch,
            flags=flags,
            include_dirs=program.include_dirs,
            headers=program.options.header_texts,
            expressions=expressions,
            probes=(*probes, *expressions),
        )
    except NvrtcFailure as error:
        if reasons := _name_errors(error.log, "__nv_name_map"):
            raise NameFailure(reasons[0]) from None
        compiler = f"NVRTC {nvrtc.version_text()}"
        message = failure(program.name, arch, compiler, flags, error.log)
        raise CompileError(
            message, error.log, program.source, error.flags, arch
        ) from None


def _run_clang(
    program: Program, variables: Names, checked: bool, expressions: Names, probes: Names
) -> CompileResult:
    from ..cpu import compile_source

    options = program.options
    further = clang_flags(options.extra)
    front = further.front + (_FREE_VARIABLES if variables else "")
    try:
        result = compile_source(
            front + program.text(expressions),
            program_name=program.file_name,
            std=options.std,
            defines=options.macros,
            include_dirs=program.include_dirs,
            headers=options.header_texts,
            fast_math=options.fast_math,
            flags=further.flags,
            # A variable whose address is taken may change.
            name_expressions=(*variables, *probes, *expressions),
            checked=checked,
        )
    except CompileError as error:
        if reasons := _name_errors(error.log, "name expression"):
            raise NameFailure(reasons[0]) from None
        message = with_hints(str(error), error.log)
        raise CompileError(
            message, error.log, error.source, error.options, error.arch
        ) from None
    lowered = tuple((name, result.lowered_names[name]) for name in expressions)
    types = tuple((n, t) for n, t in result.demangled.items() if n not in variables)
    return CompileResult(b"", result.ptx, lowered, types, log=result.log)


def _name_errors(log: str, marker: str) -> list[str]:
    """Returns the reasons when all errors are about names, none about the text."""
    errors = [
        line.split("error: ", 1) for line in log.splitlines() if "error: " in line
    ]
    if any(marker not in place for place, _ in errors):
        return []
    return [reason.rstrip(".") for _, reason in errors]
